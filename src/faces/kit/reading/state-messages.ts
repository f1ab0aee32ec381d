import { decodeMessage, type Message, textOf } from '../../../messages/index.ts'
import { isRecord, itemsOf } from '../../../messages/record.ts'
import type { ThreadEvent } from '../../../messages/thread-events/index.ts'
import { isCall, modelCallId, withCallNames } from '../../../messages/unique-calls.ts'
import type { CallRef } from './answer-item.ts'
import { keepCall, nameCall, ownedKey } from './known-calls.ts'
import { callRef, eventsOf } from './message-reader.ts'
import {
  emit,
  emitCall,
  emitMessageResult,
  type Reading,
  retract,
  retractCalls,
  startMessage,
} from './reading.ts'

/** Adds a state: what it has that was not streamed, and what it has no longer. */
export function addState(reading: Reading, { namespace, superseded, data }: ThreadEvent<'values'>): void {
  if (!isRecord(data)) return
  const { messages: all, ...values } = data
  const messages = itemsOf(all)
  const removed = superseded
    ? messages.flatMap((one) => (isRemoval(one) && one.id !== undefined ? [String(one.id)] : []))
    : []
  if (removed.length > 0) retract(reading, removed, reading.scopes.ownerOf(namespace), 'lost')
  if (superseded || namespace.length > 0) return
  const { isAfterGap } = reading
  if (isAfterGap) {
    reading.isAfterGap = false
    reading.isFirstState = false
    know(reading, messages)
    reading.out.push({ type: 'gap', values: data })
  } else addMessages(reading, messages)
  if (Array.isArray(all)) noteState(reading, messages)
  if (!isAfterGap && Object.keys(values).length > 0) reading.out.push({ type: 'state', values })
}

/** Notes which messages of the agent itself the newest state has. */
function noteState(reading: Reading, messages: readonly unknown[]): void {
  const { reported, out } = reading
  const ids = new Set(messages.map((message) => Object(message).id as unknown))
  reading.inState = ids
  const added = [...reported].filter(([id, isKept]) => !isKept && ids.has(id)).map(([id]) => id)
  for (const id of added) reported.set(id, true)
  if (added.length > 0) out.push({ type: 'kept', messages: added })
}

/**
 * Retracts reported messages that the state does not have at the end of a run. If a run has succeeded and its
 * state has no message of it, its texts are the answer, but no calls.
 */
export function retractUnused(reading: Reading, isFailed: boolean): void {
  const { inState, reported } = reading
  if (!inState) return
  const unused = [...reported.keys()].filter((id) => !inState.has(id))
  if (isFailed || unused.length < reported.size) retract(reading, unused, null, 'unused')
  else retractCalls(reading, unused)
}

/** Reports the messages of a state that were not streamed. */
function addMessages(reading: Reading, messages: readonly unknown[]): void {
  const { sent } = reading
  if (reading.isFirstState) {
    reading.isFirstState = false
    // If something was reported already, only messages up to the last input are old.
    const lastInput = sent.size === 0 ? messages.length - 1 : messages.findLastIndex(isInput)
    know(reading, messages.slice(0, lastInput + 1))
  }
  // A message without an id cannot be distinguished from the streamed ones.
  const isSent = ({ id }: Record<string, unknown>): boolean =>
    typeof id !== 'string' || sent.has(ownedKey({ id, owner: null }))
  const callPlaces = placesOfCalls(messages)
  for (const [at, raw] of messages.entries()) {
    if (!isRecord(raw)) continue
    // A result before the call belongs to an earlier call with the same id.
    if (raw.type === 'tool' && at < (callPlaces.get(raw.tool_call_id) ?? 0)) continue
    const isKnown = raw.type === 'tool' ? isResolved(reading, raw) : raw.type !== 'ai' || isSent(raw)
    if (isKnown && raw.type === 'ai') addCalls(reading, raw)
    const message = isKnown ? undefined : decodeMessage(raw)
    if (message?.role === 'tool') emitMessageResult(reading, message)
    else if (message?.role === 'assistant') addWhole(reading, message)
  }
}

function isResolved({ calls, token }: Reading, { tool_call_id }: Record<string, unknown>): boolean {
  const known = calls.byModelId.get(String(tool_call_id))
  return !known || known.result?.token === token
}

/**
 * Reports calls that a streamed message lacked: LangGraph streams a message that a node returns without its
 * calls.
 */
function addCalls(reading: Reading, { id, tool_calls }: Record<string, unknown>): void {
  if (typeof id !== 'string') return
  const { sent, calls } = reading
  const key = ownedKey({ id, owner: null })
  for (const one of itemsOf(tool_calls)) {
    if (!isRecord(one) || typeof one.id !== 'string' || typeof one.name !== 'string') continue
    if (sent.get(key)?.some((call) => (call.modelCallId ?? call.id) === one.id)) continue
    const callId = nameCall(calls, one.id, { id, owner: null })
    if (calls.byId.has(callId)) continue
    const call = callRef(one.id, callId, { name: one.name, owner: null, messageId: id, isServer: false })
    const input = isRecord(one.args) ? one.args : {}
    sent.set(key, [...(sent.get(key) ?? []), call])
    emitCall(reading, call, JSON.stringify(input), input)
  }
}

function addWhole(reading: Reading, message: Message): void {
  const id = message.id!
  reading.reported.set(id, false)
  const reader = startMessage(reading, { id, owner: null, node: undefined })
  for (const event of eventsOf(message)) emit(reading, reader.push(event), reader)
  emit(reading, reader.end(false), reader)
}

/** Records messages as known, with their calls and results. */
function know({ sent, calls, token }: Reading, messages: readonly unknown[]): void {
  const decoded = messages.flatMap((message) => decodeMessage(message) ?? [])
  const counts = new Map<string, number>()
  for (const message of withCallNames(decoded)) {
    const { id, role } = message
    if (role === 'assistant') {
      const made: CallRef[] = []
      for (const block of message.content) {
        if (!isCall(block) || block.id === undefined) continue
        const countKey = ownedKey({ id: modelCallId(block), owner: null })
        counts.set(countKey, (counts.get(countKey) ?? 0) + 1)
        if (block.type !== 'toolCall' || id === undefined) continue
        const about = { name: block.name, owner: null, messageId: id, isServer: false }
        const known = calls.byId.get(block.id)
        const call = known?.call ?? callRef(modelCallId(block), block.id, about)
        made.push(call)
        if (!known) keepCall(calls, { call, input: block.args, result: undefined })
      }
      const key = id === undefined ? undefined : ownedKey({ id, owner: null })
      if (key !== undefined && !sent.has(key)) sent.set(key, made)
    } else if (role === 'tool') {
      const known = calls.byId.get(message.toolCallId ?? '')
      if (known) known.result = { status: message.status ?? 'success', text: textOf(message), token }
    }
  }
  for (const [key, count] of counts) calls.counts.set(key, Math.max(count, calls.counts.get(key) ?? 0))
}

/** The last position in a state where each call is made, by call id. */
function placesOfCalls(messages: readonly unknown[]): ReadonlyMap<unknown, number> {
  const places = new Map<unknown, number>()
  for (const [at, raw] of messages.entries())
    if (isRecord(raw) && raw.type === 'ai')
      for (const call of itemsOf(raw.tool_calls)) if (isRecord(call)) places.set(call.id, at)
  return places
}

const isInput = (message: unknown): boolean => isRecord(message) && message.type === 'human'

const isRemoval = (message: unknown): message is { readonly id?: unknown } =>
  isRecord(message) && message.type === 'remove'
