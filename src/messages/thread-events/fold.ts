import { createAccumulator } from '../accumulator.ts'
import { createMessageDecoder, decodeMessage, type Message } from '../index.ts'
import { isRecord } from '../record.ts'
import type { EventData, LifecycleData, LogGap, ThreadEvent, ToolData } from './event-data.ts'
import { createCallScopes, createOpenMessages, isEnd } from './open-messages.ts'

/** A message of a thread, as far as it is written. */
export interface FoldedMessage {
  readonly message: Message
  /**
   * The call of the subagent that wrote the message. Null: the agent itself. If the call began before the
   * first event that was read, the segment of its namespace, such as `tools:<task id>`.
   */
  readonly toolCallId: string | null
  /** The run that wrote it. Undefined if the message is only known from a state. */
  readonly runId: string | undefined
  readonly isFinished: boolean
}

/** A tool call and its progress. */
export interface FoldedToolCall {
  readonly id: string
  readonly name: string
  /** The arguments, as JSON text. */
  readonly input: string
  /** The call of the subagent that made this call, or null. */
  readonly parentId: string | null
  readonly status: 'running' | 'finished' | 'failed'
  /** The output streamed so far. */
  readonly output: string
  /** The tool message, once the call is finished. */
  readonly result: Message | undefined
  readonly error: string | undefined
}

/** A question that a run asked. */
export interface FoldedInterrupt {
  readonly id: string
  readonly value: unknown
  /** The call that asked the question, or null. */
  readonly toolCallId: string | null
}

/** The result of a fold. */
export interface Folded {
  /** The last lifecycle event of the newest run. Undefined before its first event. */
  readonly status: LifecycleData['event'] | undefined
  /** In the order of the state, followed by messages that are not in a state yet. */
  readonly messages: readonly FoldedMessage[]
  readonly toolCalls: readonly FoldedToolCall[]
  /** The questions that the newest run asked. */
  readonly interrupts: readonly FoldedInterrupt[]
}

/** Folds events. `push` adds the next event of the log, `read` returns the result so far. */
export interface Fold {
  push(event: ThreadEvent | LogGap): void
  read(): Folded
}

type Namespace = readonly string[]

/** A message that is written by events. */
interface Written {
  readonly id: string | undefined
  readonly owner: string | null
  readonly runId: string
  readonly decoder: ReturnType<typeof createMessageDecoder>
  readonly content: ReturnType<typeof createAccumulator>
  isFinished: boolean
  /** Whether a state contained it. It is removed by the first state that does not. */
  wasInState: boolean
}

/** What was read so far. */
interface Reading {
  /** The newest messages of each state, by the call of its subagent. */
  readonly states: Map<string | null, readonly unknown[]>
  readonly calls: Map<string, FoldedToolCall>
  readonly scopes: ReturnType<typeof createCallScopes>
  readonly open: ReturnType<typeof createOpenMessages<ThreadEvent<'messages'>, Written>>
  readonly interrupts: Map<string, FoldedInterrupt>
  readonly written: Set<Written>
  /** The same messages by owner and id. */
  readonly newest: Map<string, Written>
  status: LifecycleData['event'] | undefined
}

/**
 * Folds the events of a thread into its messages (including unfinished ones), tool calls and questions. Push
 * the events of all channels in the order of the log, from any position: a state contains what came before.
 */
export function createFold(): Fold {
  const reading: Reading = {
    states: new Map(),
    calls: new Map(),
    scopes: createCallScopes(),
    open: createOpenMessages((event: ThreadEvent<'messages'>, id) => begin(reading, event, id)),
    interrupts: new Map(),
    written: new Set(),
    newest: new Map(),
    status: undefined,
  }
  return { push: (event) => push(reading, event), read: () => foldedOf(reading) }
}

function push(reading: Reading, event: ThreadEvent | LogGap): void {
  if (event.type === 'gap') {
    // The next state contains what was written in the gap.
    for (const one of reading.open.all()) forget(reading, one)
    reading.open.clear()
    return
  }
  switch (event.method) {
    case 'messages':
      addMessage(reading, event)
      break
    case 'values':
      addState(reading, event)
      break
    case 'tools':
      addCall(reading, event.namespace, event.data)
      break
    case 'input.requested':
      ask(reading, event.namespace, { id: event.data.interrupt_id, value: event.data.payload })
      break
    case 'tasks': {
      const { namespace, data } = event
      // A question that stays open is not asked again.
      for (const one of data.interrupts ?? []) ask(reading, [...namespace, `${data.name}:${data.id}`], one)
      break
    }
    case 'lifecycle':
      addEnd(reading, event.namespace, event.data)
  }
}

function begin(
  { scopes, written, newest }: Reading,
  { namespace, runId }: ThreadEvent<'messages'>,
  id: string | undefined,
): Written {
  const one: Written = {
    id,
    owner: scopes.ownerOf(namespace),
    runId,
    decoder: createMessageDecoder(),
    content: createAccumulator(),
    isFinished: false,
    wasInState: false,
  }
  // A message that is written again replaces the earlier one.
  const earlier = id === undefined ? undefined : newest.get(keyOfWritten(one))
  if (earlier) written.delete(earlier)
  written.add(one)
  if (id !== undefined) newest.set(keyOfWritten(one), one)
  return one
}

function addMessage(reading: Reading, event: ThreadEvent<'messages'>): void {
  const one = reading.open.of(event)
  if (!one) return
  for (const piece of one.decoder.push(event.data)) one.content.push(piece)
  if (!isEnd(event.data)) return
  one.isFinished = true
  if (event.superseded) forget(reading, one)
}

function forget({ written, newest }: Reading, one: Written): void {
  written.delete(one)
  if (newest.get(keyOfWritten(one)) === one) newest.delete(keyOfWritten(one))
}

function addState(reading: Reading, { namespace, superseded, data }: ThreadEvent<'values'>): void {
  const { scopes, states, written } = reading
  const owner = scopes.ownerOf(namespace)
  // The states of nested graphs are parts of that state.
  if (namespace.length > 0 && !scopes.isAt(namespace, owner) && namespace.at(-1) !== owner) return
  if (!isRecord(data) || !Array.isArray(data.messages)) return
  const messages: readonly unknown[] = data.messages
  const kept = messages.filter((one) => !isRemoval(one))
  const ids = new Set(kept.map(idOf))
  const gone = new Set(superseded ? messages.filter(isRemoval).map(idOf) : [])
  states.set(owner, kept)
  for (const one of written) {
    if (one.owner !== owner) continue
    if (gone.has(one.id) || (one.wasInState && !ids.has(one.id))) forget(reading, one)
    else if (ids.has(one.id)) one.wasInState = true
  }
}

function addCall({ scopes, calls }: Reading, namespace: Namespace, data: ToolData): void {
  const { tool_call_id: id } = data
  if (data.event === 'tool-started') {
    const parentId = scopes.ownerOf(namespace, namespace.length - 1)
    const { tool_name: name, input } = data
    scopes.begin(namespace, id)
    calls.set(id, {
      id,
      name,
      input,
      parentId,
      status: 'running',
      output: '',
      result: undefined,
      error: undefined,
    })
    return
  }
  const call = calls.get(id)
  if (!call) return
  if (data.event === 'tool-output-delta') calls.set(id, { ...call, output: call.output + data.delta })
  else if (data.event === 'tool-finished')
    calls.set(id, { ...call, status: 'finished', result: toolMessageOf(data.output, id) })
  else calls.set(id, { ...call, status: 'failed', error: data.message })
}

function ask(
  { interrupts, scopes }: Reading,
  namespace: Namespace,
  { id, value }: { readonly id: string; readonly value: unknown },
): void {
  if (!interrupts.has(id)) interrupts.set(id, { id, value, toolCallId: scopes.ownerOf(namespace) })
}

function addEnd(reading: Reading, namespace: Namespace, { event }: EventData['lifecycle']): void {
  if (namespace.length > 0) return
  reading.status = event
  if (event !== 'interrupted') reading.interrupts.clear()
}

function foldedOf({ states, newest, written, status, calls, interrupts }: Reading): Folded {
  const isOfState = new Set<Written>()
  const ofStates = [...states].flatMap(([owner, messages]) =>
    messages.flatMap((raw) => {
      const id = idOf(raw)
      const one = id === undefined ? undefined : newest.get(keyOfWritten({ owner, id }))
      if (one) isOfState.add(one)
      const message = one && !one.isFinished ? one.content.message() : decodeMessage(raw)
      return message
        ? [{ message, toolCallId: owner, runId: one?.runId, isFinished: one?.isFinished ?? true }]
        : []
    }),
  )
  const others = [...written]
    .filter((one) => !isOfState.has(one))
    .map((one) => ({
      message: one.content.message(),
      toolCallId: one.owner,
      runId: one.runId,
      isFinished: one.isFinished,
    }))
  return {
    status,
    messages: [...ofStates, ...others],
    toolCalls: [...calls.values()],
    interrupts: [...interrupts.values()],
  }
}

const isRemoval = (message: unknown): boolean => isRecord(message) && message.type === 'remove'

const keyOfWritten = ({ owner, id }: Pick<Written, 'id' | 'owner'>): string => `${owner ?? ''}\n${id}`

const idOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message.id === 'string' ? message.id : undefined

/** The tool message in a tool's output, which may be in the update of a `Command`. */
export function toolMessageOf(output: unknown, toolCallId: string): Message | undefined {
  const update = isRecord(output) && isRecord(output.update) ? output.update.messages : undefined
  const all = Array.isArray(update) ? update : [output]
  return all.map(decodeMessage).find((message) => message?.toolCallId === toolCallId)
}
