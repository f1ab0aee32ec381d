import type { EventFilter } from '../../../engine/index.ts'
import { createAccumulator } from '../../../messages/accumulator.ts'
import { createMessageDecoder, textOf } from '../../../messages/index.ts'
import {
  createCallScopes,
  createOpenMessages,
  isEnd,
  type LogGap,
  type ThreadEvent,
  toolMessageOf,
} from '../../../messages/thread-events/index.ts'
import type { AnswerDetail, AnswerItem } from './answer-item.ts'
import { approvalsOf, type WaitingCall } from './approvals.ts'
import { noCalls, ownedKey } from './known-calls.ts'
import { type MessageReader, textOfOutput } from './message-reader.ts'
import {
  emit,
  emitCall,
  emitMessageResult,
  emitResult,
  emitSubagent,
  type Reading,
  retract,
  startMessage,
} from './reading.ts'
import { addState, retractUnused } from './state-messages.ts'

/** The events that an answer is read from. */
export const ANSWER_EVENTS: EventFilter = {
  channels: ['lifecycle', 'messages', 'tools', 'values', 'checkpoints', 'input', 'custom'],
}

/** Converts the events of an answer to items. */
export interface AnswerReader {
  /** The items of the next event of the log. They do not depend on how the events are batched. */
  push(event: ThreadEvent | LogGap): readonly AnswerItem[]
}

/**
 * Converts the events of an answer to items that clients show, starting at its beginning or any position in
 * it. A pure function of the log. Messages and calls from before the first event are taken from the first
 * state, and are not reported.
 */
export function createAnswerReader(): AnswerReader {
  const reading: Reading = {
    sent: new Map(),
    calls: noCalls(),
    scopes: createCallScopes(),
    failed: new Map(),
    subagents: new Set(),
    reported: new Map(),
    inState: undefined,
    isFirstState: true,
    isAfterGap: false,
    token: '',
    out: [],
  }
  const open = createOpenMessages((event: ThreadEvent<'messages'>, id) => beginMessage(reading, event, id))
  const endMessages = (): void => {
    for (const writing of open.all())
      if ('reader' in writing) emit(reading, writing.reader.end(true), writing.reader)
    open.clear()
  }
  let last: Place = { seq: 0, timestamp: 0, runId: '' }
  return {
    push(event) {
      reading.out = []
      if (event.type === 'gap') {
        endMessages()
        reading.isAfterGap = true
        return at(last, reading.out)
      }
      last = event
      reading.token = event.eventId.slice(0, event.eventId.indexOf('-'))
      if (event.method === 'messages') addToMessage(reading, open.of(event), event)
      else {
        if (isRunEnd(event)) endMessages()
        addEvent(reading, event)
      }
      return at(event, reading.out)
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

function beginMessage(reading: Reading, event: ThreadEvent<'messages'>, id: string | undefined): Writing {
  const { namespace, node, data, seq } = event
  const decoder = createMessageDecoder()
  const { role = 'ai' } = data as { readonly role?: string }
  if (role !== 'ai') return { decoder, tool: createAccumulator() }
  const message = { id: id ?? `message-${seq}`, owner: reading.scopes.ownerOf(namespace), node }
  if (id !== undefined && message.owner === null) reading.reported.set(id, false)
  return { decoder, reader: startMessage(reading, message), token: reading.token }
}

function addToMessage(
  reading: Reading,
  writing: Writing | undefined,
  { data, superseded }: ThreadEvent<'messages'>,
): void {
  if (!writing) return
  const events = writing.decoder.push(data)
  if ('tool' in writing) {
    for (const one of events) writing.tool.push(one)
    if (isEnd(data)) emitMessageResult(reading, writing.tool.message())
    return
  }
  const { reader, token } = writing
  for (const one of events) emit(reading, reader.push(one), reader)
  if (!isEnd(data)) return
  emit(reading, reader.end(data.event === 'error'), reader)
  const { id, owner } = reader.message
  if (superseded) retract(reading, [id], owner, token === reading.token ? 'unused' : 'lost')
}

function addEvent(reading: Reading, event: ThreadEvent): void {
  // A state that is too long for an event may have any of the messages.
  if (event.method === 'checkpoints' && event.data.values_omitted && event.namespace.length === 0)
    reading.inState = undefined
  else if (event.method === 'tools') addTool(reading, event)
  else if (event.method === 'values') addState(reading, event)
  else if (event.method === 'lifecycle') addLifecycle(reading, event)
  else if (event.method === 'input.requested') ask(reading, event)
  else if (event.method === 'custom') {
    const { name, payload } = event.data
    reading.out.push({ type: 'custom', name, payload, owner: reading.scopes.ownerOf(event.namespace) })
  }
}

function addTool(reading: Reading, { namespace, data }: ThreadEvent<'tools'>): void {
  const { calls, scopes, failed, out } = reading
  const { tool_call_id: id } = data
  const known = calls.byModelId.get(id)
  if (data.event === 'tool-started') {
    scopes.begin(namespace, known?.call.id ?? id)
    if (known) return
    const owner = scopes.ownerOf(namespace, namespace.length - 1)
    emitSubagent(reading, owner)
    calls.counts.set(ownedKey({ id, owner }), 1)
    const call = { id, name: data.tool_name, owner, messageId: null, isServer: false }
    emitCall(reading, call, data.input, parsed(data.input))
  } else if (!known) return
  else if (data.event === 'tool-output-delta')
    out.push({ type: 'callOutput', call: known.call, text: data.delta })
  else if (data.event === 'tool-error') {
    // The agent may turn it into another message, which is in the next state.
    if (known.call.owner === null) failed.set(known, data.message)
    else emitResult(reading, known, 'error', undefined, data.message)
  } else {
    const message = toolMessageOf(data.output, id)
    const text = message ? textOf(message) : textOfOutput(data.output)
    emitResult(reading, known, message?.status ?? 'success', message, text)
  }
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

const BEGINS: ReadonlySet<string> = new Set(['running', 'started'])

const isRunEnd = (event: ThreadEvent): boolean =>
  event.method === 'lifecycle' && event.namespace.length === 0 && !BEGINS.has(event.data.event)

function addLifecycle(reading: Reading, { namespace, data }: ThreadEvent<'lifecycle'>): void {
  const { out, failed, subagents } = reading
  const { event, graph_name: name = '' } = data
  if (namespace.length > 0) {
    out.push({ type: 'node', name, namespace, state: event === 'running' ? 'started' : event })
    return
  }
  if (event === 'running' || event === 'started') {
    subagents.clear()
    out.push({ type: 'runStart' })
    return
  }
  for (const [known, message] of [...failed]) emitResult(reading, known, 'error', undefined, message)
  failed.clear()
  // A run that waits repeats what it has not kept, or keeps it later.
  if (event !== 'interrupted') retractUnused(reading, event === 'failed')
  const error = typeof data.error === 'object' ? data.error.message : data.error
  out.push({ type: 'runEnd', status: event, error })
}

function ask({ calls, scopes, out }: Reading, { namespace, data }: ThreadEvent<'input.requested'>): void {
  const { interrupt_id: id, payload: value } = data
  const waiting = [...calls.byId.values()].flatMap(({ call, input, result }): WaitingCall[] =>
    result === undefined ? [{ id: call.id, name: call.name, input }] : [],
  )
  const approvals = approvalsOf(value, waiting)
  out.push({ type: 'question', id, value, owner: scopes.ownerOf(namespace), approvals })
}
