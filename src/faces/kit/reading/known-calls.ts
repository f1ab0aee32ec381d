import { callName } from '../../../messages/unique-calls.ts'
import type { CallRef, MessageRef } from './answer-item.ts'

export interface KnownCall {
  readonly call: CallRef
  /** Undefined while the arguments are being written. */
  input: unknown
  /** With the fencing token of the attempt that reported it. */
  result: { readonly status: 'success' | 'error'; readonly text: string; readonly token: string } | undefined
}

/** The calls of an answer, and those before it. */
export interface KnownCalls {
  /** By the model's id, which newer calls may have, too. */
  readonly byModelId: Map<string, KnownCall>
  readonly byId: Map<string, KnownCall>
  /** The number of calls with the same model's id, by owner and id. */
  readonly counts: Map<string, number>
}

export const noCalls = (): KnownCalls => ({ byModelId: new Map(), byId: new Map(), counts: new Map() })

export function keepCall({ byModelId, byId }: KnownCalls, known: KnownCall): void {
  const { id, modelCallId = id } = known.call
  byModelId.set(modelCallId, known)
  byId.set(id, known)
}

/**
 * The name of a call. The known call with the model's id may be an earlier one: some models restart their ids
 * in each turn.
 */
export function nameCall(
  { byModelId, counts }: KnownCalls,
  id: string,
  { id: messageId, owner }: Pick<MessageRef, 'id' | 'owner'>,
): string {
  const known = byModelId.get(id)
  const isOver =
    known?.result !== undefined && known.call.messageId !== null && known.call.messageId !== messageId
  if (known && !isOver) return known.call.id
  const key = ownedKey({ id, owner })
  counts.set(key, (counts.get(key) ?? 0) + 1)
  return callName(id, counts.get(key)!)
}

/** Returns what was known of the call. */
export function forgetCall(
  { byModelId, byId, counts }: KnownCalls,
  { id, modelCallId = id, owner }: CallRef,
): KnownCall | undefined {
  const known = byId.get(id)
  if (!known) return undefined
  byId.delete(id)
  const key = ownedKey({ id: modelCallId, owner })
  counts.set(key, (counts.get(key) ?? 1) - 1)
  if (byModelId.get(modelCallId) !== known) return known
  const earlier = byId.get(callName(modelCallId, counts.get(key)!))
  if (earlier) byModelId.set(modelCallId, earlier)
  else byModelId.delete(modelCallId)
  return known
}

/** The key of a message or of a model's id among those of one owner. */
export const ownedKey = ({ owner, id }: Pick<MessageRef, 'owner' | 'id'>): string => `${owner ?? ''}\n${id}`
