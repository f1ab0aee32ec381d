import type { EventFilter } from '../../../engine/index.ts'
import { createAccumulator } from '../../../messages/accumulator.ts'
import { createMessageDecoder, decodeMessage, type Message, textOf } from '../../../messages/index.ts'
import { isRecord, itemsOf } from '../../../messages/record.ts'
import {
  createCallScopes,
  createOpenMessages,
  isEnd,
  type LogGap,
  type ThreadEvent,
  toolMessageOf,
} from '../../../messages/thread-events/index.ts'
import { callName, isCall, modelCallId, withCallNames } from '../../../messages/unique-calls.ts'
import type { AnswerDetail, AnswerItem, CallRef, MessageRef } from './answer-item.ts'
import { approvalsOf, type WaitingCall } from './approvals.ts'
import { callRef, createMessageReader, eventsOf, type MessageReader, textOfOutput } from './message-reader.ts'

/** The events that an answer is read from. */
export const ANSWER_EVENTS: EventFilter = {
  channels: ['lifecycle', 'messages', 'tools', 'values', 'checkpoints', 'input', 'custom'],
}

/** Converts the events of an answer to items. */
export interface AnswerReader {
  /** The items of the next event of the log. They do not depend on how the events are batched. */
  push(event: ThreadEvent | LogGap): readonly AnswerItem[]
}

interface KnownCall {
  readonly call: CallRef
  /** Undefined while the arguments are being written. */
  input: unknown
  /** With the fencing token of the attempt that reported it. */
  result: { readonly status: 'success' | 'error'; readonly text: string; readonly token: string } | undefined
}

/**
 * A message that is being written. For a tool message, only its end is reported, as the result of its call.
 */
type Writing =
  | {
      readonly decoder: ReturnType<typeof createMessageDecoder>
      readonly reader: MessageReader
      /** The fencing token of the attempt that began it. */
      readonly token: string
    }
  | {
      readonly decoder: ReturnType<typeof createMessageDecoder>
      readonly tool: ReturnType<typeof createAccumulator>
    }

/**
 * Converts the events of an answer to items that clients show, starting at its beginning or any position in
 * it. A pure function of the log. Messages and calls from before the first event are taken from the first
 * state, and are not reported.
 */
export function createAnswerReader(): AnswerReader {
  /**
   * The calls of each message of the agent and its subagents that was reported or existed before, by owner
   * and id.
   */
  const sent = new Map<string, readonly CallRef[]>()
  /** By the model's id, which newer calls may have, too. */
  const calls = new Map<string, KnownCall>()
  const named = new Map<string, KnownCall>()
  /** The number of calls with the same model's id, by owner and id. */
  const counts = new Map<string, number>()
  const scopes = createCallScopes()
  const { ownerOf } = scopes
  /** Errors of tools that are not in a state yet. */
  const failed = new Map<KnownCall, string>()
  /** The subagents that were reported in this run. */
  const subagents = new Set<string>()
  /** The reported messages of the agent itself, by id, and whether a state had them. */
  const reported = new Map<string, boolean>()
  /** The ids of the newest state's messages. Undefined if the states have no list of messages. */
  let inState: ReadonlySet<unknown> | undefined
  let isFirstState = true
  let isAfterGap = false
  let token = ''
  let last: Place = { seq: 0, timestamp: 0, runId: '' }
  let out: AnswerDetail[] = []
  const open = createOpenMessages(beginMessage)

  function beginMessage(event: ThreadEvent<'messages'>, id: string | undefined): Writing {
    const { namespace, node, data, seq } = event
    const decoder = createMessageDecoder()
    const { role = 'ai' } = data as { readonly role?: string }
    if (role !== 'ai') return { decoder, tool: createAccumulator() }
    const message = { id: id ?? `message-${seq}`, owner: ownerOf(namespace), node }
    if (id !== undefined && message.owner === null) reported.set(id, false)
    return { decoder, reader: startMessage(message), token }
  }

  function startMessage(message: MessageRef): MessageReader {
    emitSubagent(message.owner)
    // A message that is written again replaces the earlier one.
    retract([message.id], message.owner, 'lost')
    const reader = createMessageReader(message, (id) => nameOf(id, message))
    sent.set(messageKey(message), [])
    out.push({ type: 'messageStart', message })
    return reader
  }

  function addMessage(event: ThreadEvent<'messages'>): void {
    const writing = open.of(event)
    if (!writing) return
    const { data, superseded } = event
    const events = writing.decoder.push(data)
    if ('tool' in writing) {
      for (const one of events) writing.tool.push(one)
      if (isEnd(data)) addResult(writing.tool.message())
      return
    }
    for (const one of events) emit(writing.reader.push(one), writing.reader)
    if (!isEnd(data)) return
    const { reader } = writing
    emit(reader.end(data.event === 'error'), reader)
    if (superseded)
      retract([reader.message.id], reader.message.owner, writing.token === token ? 'unused' : 'lost')
  }

  /** Adds items of a message, and records its calls. */
  function emit(items: readonly AnswerDetail[], reader: MessageReader): void {
    for (const item of items) {
      if (item.type === 'callStart') {
        // The tool may have reported the call first.
        if (named.has(item.call.id)) continue
        sent.set(messageKey(reader.message), [...reader.calls.values()])
        keep({ call: item.call, input: undefined, result: undefined })
      } else if (item.type === 'callEnd' || item.type === 'callInvalid') {
        const known = named.get(item.call.id)
        if (known?.call !== item.call) continue
        known.input = item.input
      } else if (item.type === 'callArgs' && named.get(item.call.id)?.call !== item.call) continue
      else if (item.type === 'callResult') {
        const known = named.get(item.call.id)
        if (known) known.result = { status: item.status, text: item.text, token }
      }
      out.push(item)
    }
  }

  function keep(known: KnownCall): void {
    const { id, modelCallId = id } = known.call
    calls.set(modelCallId, known)
    named.set(id, known)
  }

  /**
   * The name of a call. The known call with the model's id may be an earlier one: some models restart their
   * ids in each turn.
   */
  function nameOf(id: string, { id: messageId, owner }: MessageRef): string {
    const known = calls.get(id)
    const isOver =
      known?.result !== undefined && known.call.messageId !== null && known.call.messageId !== messageId
    if (known && !isOver) return known.call.id
    const key = messageKey({ id, owner })
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return callName(id, counts.get(key)!)
  }

  function addTool({ namespace, data }: ThreadEvent<'tools'>): void {
    const { tool_call_id: id } = data
    if (data.event === 'tool-started') {
      scopes.begin(namespace, calls.get(id)?.call.id ?? id)
      if (calls.has(id)) return
      const owner = ownerOf(namespace, namespace.length - 1)
      const { tool_name: name, input: args } = data
      const call = { id, name, owner, messageId: null, isServer: false }
      const input = parsed(args)
      emitSubagent(owner)
      counts.set(messageKey({ id, owner }), 1)
      keep({ call, input, result: undefined })
      out.push({ type: 'callStart', call })
      if (args !== '') out.push({ type: 'callArgs', call, args })
      out.push({ type: 'callEnd', call, input: isRecord(input) ? input : { input } })
      return
    }
    const known = calls.get(id)
    if (!known) return
    if (data.event === 'tool-output-delta')
      out.push({ type: 'callOutput', call: known.call, text: data.delta })
    else if (data.event === 'tool-error') {
      // The agent may turn it into another message, which is in the next state.
      if (known.call.owner === null) failed.set(known, data.message)
      else emitResult(known, 'error', undefined, data.message)
    } else {
      const message = toolMessageOf(data.output, id)
      const text = message ? textOf(message) : textOfOutput(data.output)
      emitResult(known, message?.status ?? 'success', message, text)
    }
  }

  function addResult(message: Message): void {
    const known = calls.get(message.toolCallId ?? '')
    if (known) emitResult(known, message.status ?? 'success', message, textOf(message))
  }

  function emitResult(
    known: KnownCall,
    status: 'success' | 'error',
    message: Message | undefined,
    text: string,
  ): void {
    const { call, result } = known
    const isRepeated = result !== undefined && (result.token === token || isSame(result, { status, text }))
    known.result = { status, text, token }
    failed.delete(known)
    if (isRepeated) return
    out.push({ type: 'callResult', call, status, message, text })
    if (subagents.delete(call.id)) out.push({ type: 'subagentEnd', call, status })
  }

  /** Reports that a call belongs to a subagent, after the calls around it. */
  function emitSubagent(owner: string | null): void {
    const known = owner === null ? undefined : named.get(owner)
    if (!known || subagents.has(known.call.id)) return
    emitSubagent(known.call.owner)
    subagents.add(known.call.id)
    const { input, call } = known
    const name = isRecord(input) && typeof input.subagent_type === 'string' ? input.subagent_type : call.name
    out.push({ type: 'subagentStart', call, name })
  }

  function addState({ namespace, superseded, data }: ThreadEvent<'values'>): void {
    if (!isRecord(data)) return
    const messages = itemsOf(data.messages)
    const removed = superseded
      ? messages.flatMap((one) => (isRemoval(one) && one.id !== undefined ? [String(one.id)] : []))
      : []
    if (removed.length > 0) retract(removed, ownerOf(namespace), 'lost')
    if (superseded || namespace.length > 0) return
    if (isAfterGap) {
      isAfterGap = false
      isFirstState = false
      know(messages)
      out.push({ type: 'gap', values: data })
      if (Array.isArray(data.messages)) noteState(messages)
      return
    }
    addMessages(messages)
    if (Array.isArray(data.messages)) noteState(messages)
    const { messages: _, ...values } = data
    if (Object.keys(values).length > 0) out.push({ type: 'state', values })
  }

  /** Notes which messages of the agent itself the newest state has. */
  function noteState(messages: readonly unknown[]): void {
    inState = new Set(messages.map((message) => Object(message).id as unknown))
    const added = [...reported].filter(([id, isKept]) => !isKept && inState!.has(id)).map(([id]) => id)
    for (const id of added) reported.set(id, true)
    if (added.length > 0) out.push({ type: 'kept', messages: added })
  }

  /**
   * Retracts reported messages that the state does not have at the end of a run. If a run has succeeded and
   * its state has no message of it, its texts are the answer, but no calls.
   */
  function retractUnused(isFailed: boolean): void {
    const kept = inState
    if (!kept) return
    const unused = [...reported.keys()].filter((id) => !kept.has(id))
    if (isFailed || unused.length < reported.size) retract(unused, null, 'unused')
    else retractCalls(unused)
  }

  /** Reports the messages of a state that were not streamed. */
  function addMessages(messages: readonly unknown[]): void {
    if (isFirstState) {
      isFirstState = false
      // If something was reported already, only messages up to the last input are old.
      const lastInput = sent.size === 0 ? messages.length - 1 : messages.findLastIndex(isInput)
      know(messages.slice(0, lastInput + 1))
    }
    const callPlaces = placesOfCalls(messages)
    for (const [at, raw] of messages.entries()) {
      if (!isRecord(raw)) continue
      // A result before the call belongs to an earlier call with the same id.
      if (raw.type === 'tool' && at < (callPlaces.get(raw.tool_call_id) ?? 0)) continue
      const isKnown = raw.type === 'tool' ? isResolved(raw) : raw.type !== 'ai' || isSent(raw)
      if (isKnown && raw.type === 'ai') emitCalls(raw)
      const message = isKnown ? undefined : decodeMessage(raw)
      if (message?.role === 'tool') addResult(message)
      else if (message?.role === 'assistant') addWhole(message)
    }
  }

  const isSent = ({ id }: Record<string, unknown>): boolean =>
    // A message without an id cannot be distinguished from the streamed ones.
    typeof id !== 'string' || sent.has(messageKey({ id, owner: null }))

  /**
   * Reports calls that a streamed message lacked: LangGraph streams a message that a node returns without its
   * calls.
   */
  function emitCalls({ id, tool_calls }: Record<string, unknown>): void {
    if (typeof id !== 'string') return
    const key = messageKey({ id, owner: null })
    for (const one of itemsOf(tool_calls)) {
      if (!isRecord(one) || typeof one.id !== 'string' || typeof one.name !== 'string') continue
      if (sent.get(key)?.some((call) => (call.modelCallId ?? call.id) === one.id)) continue
      const callId = nameOf(one.id, { id, owner: null, node: undefined })
      if (named.has(callId)) continue
      const about = { name: one.name, owner: null, messageId: id, isServer: false }
      const call = callRef(one.id, callId, about)
      const input = isRecord(one.args) ? one.args : {}
      sent.set(key, [...(sent.get(key) ?? []), call])
      keep({ call, input, result: undefined })
      out.push({ type: 'callStart', call })
      out.push({ type: 'callArgs', call, args: JSON.stringify(input) })
      out.push({ type: 'callEnd', call, input })
    }
  }

  const isResolved = ({ tool_call_id }: Record<string, unknown>): boolean => {
    const known = calls.get(String(tool_call_id))
    return !known || known.result?.token === token
  }

  function addWhole(message: Message): void {
    reported.set(message.id!, false)
    const reader = startMessage({ id: message.id!, owner: null, node: undefined })
    for (const event of eventsOf(message)) emit(reader.push(event), reader)
    emit(reader.end(false), reader)
  }

  /** Records messages as known, with their calls and results. */
  function know(messages: readonly unknown[]): void {
    const decoded = messages.flatMap((message) => decodeMessage(message) ?? [])
    const countsInState = new Map<string, number>()
    for (const message of withCallNames(decoded)) {
      if (message.role === 'assistant') {
        const made: CallRef[] = []
        for (const block of message.content) {
          if (!isCall(block) || block.id === undefined) continue
          const countKey = messageKey({ id: modelCallId(block), owner: null })
          countsInState.set(countKey, (countsInState.get(countKey) ?? 0) + 1)
          if (block.type !== 'toolCall' || message.id === undefined) continue
          const about = { name: block.name, owner: null, messageId: message.id, isServer: false }
          const call = named.get(block.id)?.call ?? callRef(modelCallId(block), block.id, about)
          made.push(call)
          if (!named.has(block.id)) keep({ call, input: block.args, result: undefined })
        }
        if (message.id === undefined) continue
        const key = messageKey({ id: message.id, owner: null })
        if (!sent.has(key)) sent.set(key, made)
      } else if (message.role === 'tool') {
        const known = named.get(message.toolCallId ?? '')
        if (known) known.result = { status: message.status ?? 'success', text: textOf(message), token }
      }
    }
    for (const [key, count] of countsInState) counts.set(key, Math.max(count, counts.get(key) ?? 0))
  }

  function retract(ids: readonly string[], owner: string | null, reason: 'lost' | 'unused'): void {
    const gone = ids.filter((id) => sent.has(messageKey({ id, owner })))
    if (gone.length === 0) return
    const made = gone.flatMap((id) => sent.get(messageKey({ id, owner }))!)
    for (const id of gone) {
      sent.delete(messageKey({ id, owner }))
      if (owner === null) reported.delete(id)
    }
    for (const call of made) forget(call)
    out.push({ type: 'retract', reason, messages: gone, calls: made.map(({ id }) => id) })
  }

  /** Retracts only the calls of messages of the agent itself. */
  function retractCalls(ids: readonly string[]): void {
    const made = ids.flatMap((id) => sent.get(messageKey({ id, owner: null })) ?? [])
    for (const call of made) forget(call)
    if (made.length > 0)
      out.push({ type: 'retract', reason: 'unused', messages: [], calls: made.map(({ id }) => id) })
  }

  function forget({ id, modelCallId: raw = id, owner }: CallRef): void {
    const known = named.get(id)
    named.delete(id)
    subagents.delete(id)
    if (!known) return
    failed.delete(known)
    const key = messageKey({ id: raw, owner })
    counts.set(key, (counts.get(key) ?? 1) - 1)
    if (calls.get(raw) !== known) return
    const earlier = named.get(callName(raw, counts.get(key)!))
    if (earlier) calls.set(raw, earlier)
    else calls.delete(raw)
  }

  function endMessages(): void {
    for (const writing of open.all()) if ('reader' in writing) emit(writing.reader.end(true), writing.reader)
    open.clear()
  }

  function addLifecycle({ namespace, data }: ThreadEvent<'lifecycle'>): void {
    const { event, graph_name: name = '' } = data
    if (namespace.length > 0) {
      const state = event === 'running' ? 'started' : event
      out.push({ type: 'node', name, namespace, state })
      return
    }
    if (event === 'running' || event === 'started') {
      subagents.clear()
      out.push({ type: 'runStart' })
      return
    }
    endMessages()
    for (const [known, message] of [...failed]) emitResult(known, 'error', undefined, message)
    failed.clear()
    // A run that waits repeats what it has not kept, or keeps it later.
    if (event !== 'interrupted') retractUnused(event === 'failed')
    const error = typeof data.error === 'object' ? data.error.message : data.error
    out.push({ type: 'runEnd', status: event, error })
  }

  function ask({ namespace, data }: ThreadEvent<'input.requested'>): void {
    const { interrupt_id: id, payload: value } = data
    const owner = ownerOf(namespace)
    const waiting = [...named.values()].flatMap(({ call, input, result }): WaitingCall[] =>
      result === undefined ? [{ id: call.id, name: call.name, input }] : [],
    )
    out.push({ type: 'question', id, value, owner, approvals: approvalsOf(value, waiting) })
  }

  function add(event: ThreadEvent): void {
    if (event.method === 'messages') addMessage(event)
    // A state that is too long for an event may have any of the messages.
    else if (event.method === 'checkpoints' && event.data.values_omitted && event.namespace.length === 0)
      inState = undefined
    else if (event.method === 'tools') addTool(event)
    else if (event.method === 'values') addState(event)
    else if (event.method === 'lifecycle') addLifecycle(event)
    else if (event.method === 'input.requested') ask(event)
    else if (event.method === 'custom') {
      const { namespace, data } = event
      out.push({ type: 'custom', name: data.name, payload: data.payload, owner: ownerOf(namespace) })
    }
  }

  return {
    push(event) {
      out = []
      if (event.type === 'gap') {
        endMessages()
        isAfterGap = true
        return at(last, out)
      }
      last = event
      token = event.eventId.slice(0, event.eventId.indexOf('-'))
      add(event)
      return at(event, out)
    },
  }
}

type Place = Pick<AnswerItem, 'seq' | 'timestamp' | 'runId'>

/**
 * Adds the position in the log to the details. They were just created, so they are modified and not copied.
 */
function at({ seq, timestamp, runId }: Place, details: readonly AnswerDetail[]): readonly AnswerItem[] {
  for (const detail of details) Object.assign(detail, { seq, timestamp, runId })
  return details as readonly AnswerItem[]
}

const messageKey = ({ owner, id }: Pick<MessageRef, 'owner' | 'id'>): string => `${owner ?? ''}\n${id}`

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

const isSame = (
  one: { readonly status: string; readonly text: string },
  other: { readonly status: string; readonly text: string },
): boolean => one.status === other.status && one.text === other.text

function parsed(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}
