import { type Message, textOf } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { createCallScopes } from '../../../messages/thread-events/index.ts'
import type { AnswerDetail, CallRef, MessageRef } from './answer-item.ts'
import { forgetCall, type KnownCall, type KnownCalls, keepCall, nameCall, ownedKey } from './known-calls.ts'
import { createMessageReader, type MessageReader } from './message-reader.ts'

/** What a reader has reported of an answer, and knows of what was before it. */
export interface Reading {
  /**
   * The calls of each message of the agent and its subagents that was reported or existed before, by owner
   * and id.
   */
  readonly sent: Map<string, readonly CallRef[]>
  readonly calls: KnownCalls
  readonly scopes: ReturnType<typeof createCallScopes>
  /** Errors of tools that are not in a state yet. */
  readonly failed: Map<KnownCall, string>
  /** The subagents that were reported in this run. */
  readonly subagents: Set<string>
  /** The reported messages of the agent itself, by id, and whether a state had them. */
  readonly reported: Map<string, boolean>
  /** The ids of the newest state's messages. Undefined if the states have no list of messages. */
  inState: ReadonlySet<unknown> | undefined
  isFirstState: boolean
  isAfterGap: boolean
  /** The fencing token of the newest event. */
  token: string
  /** The items of the newest event. */
  out: AnswerDetail[]
}

export function startMessage(reading: Reading, message: MessageRef): MessageReader {
  emitSubagent(reading, message.owner)
  // A message that is written again replaces the earlier one.
  retract(reading, [message.id], message.owner, 'lost')
  const reader = createMessageReader(message, (id) => nameCall(reading.calls, id, message))
  reading.sent.set(ownedKey(message), [])
  reading.out.push({ type: 'messageStart', message })
  return reader
}

/** Adds items of a message, and records its calls. */
export function emit(reading: Reading, items: readonly AnswerDetail[], reader: MessageReader): void {
  const { byId } = reading.calls
  for (const item of items) {
    if (item.type === 'callStart') {
      // The tool may have reported the call first.
      if (byId.has(item.call.id)) continue
      reading.sent.set(ownedKey(reader.message), [...reader.calls.values()])
      keepCall(reading.calls, { call: item.call, input: undefined, result: undefined })
    } else if (item.type === 'callEnd' || item.type === 'callInvalid') {
      const known = byId.get(item.call.id)
      if (known?.call !== item.call) continue
      known.input = item.input
    } else if (item.type === 'callArgs' && byId.get(item.call.id)?.call !== item.call) continue
    else if (item.type === 'callResult') {
      const known = byId.get(item.call.id)
      if (known) known.result = { status: item.status, text: item.text, token: reading.token }
    }
    reading.out.push(item)
  }
}

/** Adds a call that no model has streamed, whole. */
export function emitCall({ calls, out }: Reading, call: CallRef, args: string, input: unknown): void {
  keepCall(calls, { call, input, result: undefined })
  out.push({ type: 'callStart', call })
  if (args !== '') out.push({ type: 'callArgs', call, args })
  out.push({ type: 'callEnd', call, input: isRecord(input) ? input : { input } })
}

/** The result of a call that a tool message has. */
export function emitMessageResult(reading: Reading, message: Message): void {
  const known = reading.calls.byModelId.get(message.toolCallId ?? '')
  if (known) emitResult(reading, known, message.status ?? 'success', message, textOf(message))
}

export function emitResult(
  { out, failed, subagents, token }: Reading,
  known: KnownCall,
  status: 'success' | 'error',
  message: Message | undefined,
  text: string,
): void {
  const { call, result } = known
  const isRepeated =
    result !== undefined && (result.token === token || (result.status === status && result.text === text))
  known.result = { status, text, token }
  failed.delete(known)
  if (isRepeated) return
  out.push({ type: 'callResult', call, status, message, text })
  if (subagents.delete(call.id)) out.push({ type: 'subagentEnd', call, status })
}

/** Reports that a call belongs to a subagent, after the calls around it. */
export function emitSubagent(reading: Reading, owner: string | null): void {
  const { calls, subagents, out } = reading
  const known = owner === null ? undefined : calls.byId.get(owner)
  if (!known || subagents.has(known.call.id)) return
  emitSubagent(reading, known.call.owner)
  subagents.add(known.call.id)
  const { input, call } = known
  const name = isRecord(input) && typeof input.subagent_type === 'string' ? input.subagent_type : call.name
  out.push({ type: 'subagentStart', call, name })
}

export function retract(
  reading: Reading,
  ids: readonly string[],
  owner: string | null,
  reason: 'lost' | 'unused',
): void {
  const { sent, reported, out } = reading
  const gone = ids.filter((id) => sent.has(ownedKey({ id, owner })))
  if (gone.length === 0) return
  const made = gone.flatMap((id) => sent.get(ownedKey({ id, owner }))!)
  for (const id of gone) {
    sent.delete(ownedKey({ id, owner }))
    if (owner === null) reported.delete(id)
  }
  forget(reading, made)
  out.push({ type: 'retract', reason, messages: gone, calls: made.map(({ id }) => id) })
}

/** Retracts only the calls of messages of the agent itself. */
export function retractCalls(reading: Reading, ids: readonly string[]): void {
  const made = ids.flatMap((id) => reading.sent.get(ownedKey({ id, owner: null })) ?? [])
  forget(reading, made)
  if (made.length > 0)
    reading.out.push({ type: 'retract', reason: 'unused', messages: [], calls: made.map(({ id }) => id) })
}

function forget({ calls, subagents, failed }: Reading, made: readonly CallRef[]): void {
  for (const call of made) {
    subagents.delete(call.id)
    const known = forgetCall(calls, call)
    if (known) failed.delete(known)
  }
}
