import {
  createCallScopes,
  createOpenMessages,
  isEnd,
  type LogGap,
  type ThreadEvent,
  toolMessageOf,
} from '../../events/index.ts'
import { createAccumulator } from '../../messages/accumulator.ts'
import { createMessageDecoder, decodeMessage, type Message, textOf } from '../../messages/index.ts'
import { isRecord, itemsOf } from '../../messages/record.ts'
import type { EventFilter } from '../../runs/index.ts'
import type { AnswerDetail, AnswerItem, CallRef, MessageRef } from './answer-item.ts'
import { approvalsOf, type WaitingCall } from './approvals.ts'
import { createMessageReader, eventsOf, type MessageReader, textOfOutput } from './message-reader.ts'

/** The events that an answer is read from. */
export const ANSWER_EVENTS: EventFilter = {
  channels: ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom'],
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
  const sent = new Map<string, ReadonlySet<string>>()
  const calls = new Map<string, KnownCall>()
  const scopes = createCallScopes()
  const { ownerOf } = scopes
  /** Errors of tools that are not in a state yet. */
  const failed = new Map<string, string>()
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
    const reader = createMessageReader(message)
    sent.set(messageKey(message), new Set())
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
        if (calls.has(item.call.id) && !isOver(item.call)) continue
        sent.set(messageKey(reader.message), new Set(reader.calls.keys()))
        calls.set(item.call.id, { call: item.call, input: undefined, result: undefined })
      } else if (item.type === 'callEnd' || item.type === 'callInvalid') {
        const known = calls.get(item.call.id)
        if (known?.call !== item.call) continue
        known.input = item.input
      } else if (item.type === 'callArgs' && calls.get(item.call.id)?.call !== item.call) continue
      else if (item.type === 'callResult') {
        const known = calls.get(item.call.id)
        if (known) known.result = { status: item.status, text: item.text, token }
      }
      out.push(item)
    }
  }

  /**
   * Whether the known call with this id is an earlier one: some models restart their call ids in each turn.
   */
  function isOver({ id, messageId }: CallRef): boolean {
    const known = calls.get(id)
    return known?.result !== undefined && known.call.messageId !== null && known.call.messageId !== messageId
  }

  function addTool({ namespace, data }: ThreadEvent<'tools'>): void {
    const { tool_call_id: id } = data
    if (data.event === 'tool-started') {
      scopes.begin(namespace, id)
      if (calls.has(id)) return
      const owner = ownerOf(namespace, namespace.length - 1)
      const { tool_name: name, input: args } = data
      const call = { id, name, owner, messageId: null, isServer: false }
      const input = parsed(args)
      emitSubagent(owner)
      calls.set(id, { call, input, result: undefined })
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
      if (known.call.owner === null) failed.set(id, data.message)
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
    failed.delete(call.id)
    if (isRepeated) return
    out.push({ type: 'callResult', call, status, message, text })
    if (subagents.delete(call.id)) out.push({ type: 'subagentEnd', call, status })
  }

  /** Reports that a call belongs to a subagent, after the calls around it. */
  function emitSubagent(owner: string | null): void {
    const known = owner === null ? undefined : calls.get(owner)
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
      if (Array.isArray(data.messages)) keep(messages)
      return
    }
    addMessages(messages)
    if (Array.isArray(data.messages)) keep(messages)
    const { messages: _, ...values } = data
    if (Object.keys(values).length > 0) out.push({ type: 'state', values })
  }

  /** Notes which messages of the agent itself the newest state has. */
  function keep(messages: readonly unknown[]): void {
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
    for (const one of itemsOf(tool_calls)) {
      if (!isRecord(one) || typeof one.id !== 'string' || typeof one.name !== 'string' || calls.has(one.id))
        continue
      const call = { id: one.id, name: one.name, owner: null, messageId: id, isServer: false }
      const input = isRecord(one.args) ? one.args : {}
      const key = messageKey({ id, owner: null })
      sent.set(key, new Set([...(sent.get(key) ?? []), call.id]))
      calls.set(call.id, { call, input, result: undefined })
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
    for (const message of messages.map(decodeMessage)) {
      if (message?.role === 'assistant' && message.id !== undefined) {
        const key = messageKey({ id: message.id, owner: null })
        const ids: string[] = []
        for (const block of message.content) {
          if (block.type !== 'toolCall' || block.id === undefined) continue
          ids.push(block.id)
          if (calls.has(block.id)) continue
          const { id, name, args } = block
          const call = { id, name, owner: null, messageId: message.id, isServer: false }
          calls.set(id, { call, input: args, result: undefined })
        }
        if (!sent.has(key)) sent.set(key, new Set(ids))
      } else if (message?.role === 'tool') {
        const known = calls.get(message.toolCallId ?? '')
        if (known) known.result = { status: message.status ?? 'success', text: textOf(message), token }
      }
    }
  }

  function retract(ids: readonly string[], owner: string | null, reason: 'lost' | 'unused'): void {
    const gone = ids.filter((id) => sent.has(messageKey({ id, owner })))
    if (gone.length === 0) return
    const made = gone.flatMap((id) => [...sent.get(messageKey({ id, owner }))!])
    for (const id of gone) {
      sent.delete(messageKey({ id, owner }))
      if (owner === null) reported.delete(id)
    }
    forgetCalls(made)
    out.push({ type: 'retract', reason, messages: gone, calls: made })
  }

  /** Retracts only the calls of messages of the agent itself. */
  function retractCalls(ids: readonly string[]): void {
    const made = ids.flatMap((id) => [...(sent.get(messageKey({ id, owner: null })) ?? [])])
    forgetCalls(made)
    if (made.length > 0) out.push({ type: 'retract', reason: 'unused', messages: [], calls: made })
  }

  function forgetCalls(ids: readonly string[]): void {
    for (const id of ids) {
      calls.delete(id)
      failed.delete(id)
      subagents.delete(id)
    }
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
    for (const [id, message] of failed) {
      const known = calls.get(id)
      if (known) emitResult(known, 'error', undefined, message)
    }
    failed.clear()
    // A run that waits repeats what it has not kept, or keeps it later.
    if (event !== 'interrupted') retractUnused(event === 'failed')
    const error = typeof data.error === 'object' ? data.error.message : data.error
    out.push({ type: 'runEnd', status: event, error })
  }

  function ask({ namespace, data }: ThreadEvent<'input.requested'>): void {
    const { interrupt_id: id, payload: value } = data
    const owner = ownerOf(namespace)
    const waiting = [...calls.values()].flatMap(({ call, input, result }): WaitingCall[] =>
      result === undefined ? [{ id: call.id, name: call.name, input }] : [],
    )
    out.push({ type: 'question', id, value, owner, approvals: approvalsOf(value, waiting) })
  }

  function add(event: ThreadEvent): void {
    if (event.method === 'messages') addMessage(event)
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
