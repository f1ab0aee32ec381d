import { defined, type Fields, isRecord } from '../../messages/record.ts'
import {
  type AgentEvent,
  agentEvent,
  type EventData,
  type EventMethod,
} from '../../messages/thread-events/index.ts'
import { createMessageNormalizer } from '../message-order.ts'
import { inputRequested } from '../root-events.ts'
import { toJson } from '../to-json.ts'
import type { EngineEvent, GraphInterrupt } from './graph.ts'
import { INTERRUPT, isHandoff, toPending } from './snapshot.ts'

export type Translator = ReturnType<typeof createTranslator>

type Position = Pick<EngineEvent['params'], 'namespace' | 'node'>

const NOTHING: readonly AgentEvent[] = []
const CUSTOM_CHANNEL = 'custom:'
const REMOVE_ALL = '__remove_all__'

const newState = () => ({
  messages: createMessageNormalizer(),
  /** The ids of requested interrupts. */
  requested: new Set<string>(),
  paused: new Set<string>(),
  removals: new Set<string>(),
  atBreakpoint: false,
  checkpointId: undefined as string | undefined,
  held: undefined as AgentEvent | undefined,
})
type TranslatorState = ReturnType<typeof newState>

/** Translates the events of one run from LangGraph's engine to the Agent Streaming Protocol. */
export function createTranslator() {
  const state = newState()
  const { messages } = state
  return {
    translate: (event: EngineEvent) => pair(state, rewrite(state, event)),
    /** What the graph's own nodes wrote since its newest checkpoint. */
    unsaved: () => ({
      checkpointId: state.checkpointId,
      messages: messages.written().filter(({ at }) => at.namespace.length <= 1),
    }),
    /** The events that end unfinished messages when the run is cancelled. */
    cut: () => messages.cut().map(({ at, data }) => messageEvent(at, data)),
    rest: () => (state.held ? [state.held] : NOTHING),
  }
}

function rewrite(state: TranslatorState, { method, params }: EngineEvent): readonly AgentEvent[] {
  const { namespace, node } = params
  const data = params.data as Fields
  switch (method) {
    case 'messages':
      return messages(state, params, data)
    case 'values':
      return isRecord(data) && INTERRUPT in data
        ? stop(state, namespace, data[INTERRUPT])
        : [ofEngine(method, namespace, data)]
    case 'updates':
      return node === INTERRUPT
        ? request(state, namespace, data.values)
        : [ofEngine(method, namespace, data, node)]
    case 'lifecycle':
      return lifecycle(state, namespace, data)
    case 'tasks':
      return tasks(state, namespace, data)
    case 'tools':
      return isPause(data) ? NOTHING : [ofEngine(method, namespace, data)]
    case 'checkpoints':
      if (namespace.length === 0) {
        state.checkpointId = data.id as string
        state.messages.forgetWritten()
      }
      return [ofEngine(method, namespace, data)]
    case 'custom':
      return [ofEngine(method, namespace, data)]
    case 'chunks':
      return [{ method, namespace, data: data as unknown as EventData['chunks'] }]
    default:
      if (!method.startsWith(CUSTOM_CHANNEL)) return NOTHING
      return [ofEngine('custom', namespace, { name: method.slice(CUSTOM_CHANNEL.length), payload: data })]
  }
}

/** Requests each interrupt where it appears first: the engine repeats it in every enclosing namespace. */
function request(
  { requested }: TranslatorState,
  namespace: readonly string[],
  interrupts: unknown,
): readonly AgentEvent[] {
  if (!Array.isArray(interrupts)) return NOTHING
  return (interrupts as readonly GraphInterrupt[])
    .map(toPending)
    .filter(({ id }) => !requested.has(id) && requested.add(id))
    .map((interrupt) => inputRequested(namespace, interrupt))
}

/** The engine reports a waiting namespace as completed. For clients it is interrupted. */
function lifecycle(
  { atBreakpoint, paused }: TranslatorState,
  namespace: readonly string[],
  data: Fields,
): readonly AgentEvent[] {
  if (namespace.length === 0) return NOTHING
  const waits = data.event === 'completed' && (atBreakpoint || paused.has(namespace.join('|')))
  return [ofEngine('lifecycle', namespace, waits ? { ...data, event: 'interrupted' } : data)]
}

function tasks(
  { paused }: TranslatorState,
  namespace: readonly string[],
  data: Fields,
): readonly AgentEvent[] {
  if ('result' in data && Array.isArray(data.interrupts) && data.interrupts.length > 0) {
    paused.add([...namespace, `${data.name}:${data.id}`].join('|'))
  }
  return [ofEngine('tasks', namespace, isHandoff(data.error) ? { ...data, error: null } : data)]
}

/** A graph that stops reports its interrupts. At a static breakpoint there are none. */
function stop(
  state: TranslatorState,
  namespace: readonly string[],
  interrupts: unknown,
): readonly AgentEvent[] {
  if (!Array.isArray(interrupts) || interrupts.length > 0) return request(state, namespace, interrupts)
  state.atBreakpoint = true
  return [{ method: 'lifecycle', namespace: [], data: { event: 'interrupted' } }]
}

/** The engine sends a `RemoveMessage` for all messages as if it were an empty answer. */
function isRemoval({ removals }: TranslatorState, key: string, { event, id }: Fields): boolean {
  if (event === 'message-start' && id === REMOVE_ALL) removals.add(key)
  else return event === 'message-finish' && removals.delete(key)
  return true
}

/** Converts an event of the `messages` channel. Raw `provider` events are not part of the protocol. */
function messages(state: TranslatorState, at: Position, data: Fields): readonly AgentEvent[] {
  const { namespace, node } = at
  if (data.event === 'provider') return NOTHING
  const key = typeof data.run_id === 'string' ? data.run_id : [...namespace, node].join('|')
  if (isRemoval(state, key, data)) return NOTHING
  const spelled = withBlock(data)
  return (state.messages.normalize(key, spelled, at) ?? [spelled]).map((one) => messageEvent(at, one))
}

/**
 * Sends a `checkpoints` event right before its `values`, because clients pair them by position. `custom`
 * events, the only events in between, are sent first.
 */
function pair(state: TranslatorState, events: readonly AgentEvent[]): readonly AgentEvent[] {
  const event = events[0]
  if (event?.method === 'checkpoints') {
    const before = state.held
    state.held = event
    return before ? [before] : NOTHING
  }
  const before = state.held
  if (!before || !event || event.method === 'custom') return events
  state.held = undefined
  return [before, ...events]
}

/** An engine event whose data have the protocol's shape, as JSON. */
const ofEngine = <M extends EventMethod>(
  method: M,
  namespace: readonly string[],
  data: unknown,
  node?: string,
): AgentEvent => agentEvent(method, namespace, toJson(data) as EventData[M], node)

const messageEvent = ({ namespace, node }: Position, data: Fields): AgentEvent =>
  agentEvent('messages', namespace, data as unknown as EventData['messages'], node)

function withBlock(data: Fields): Fields {
  const json = toJson(data) as Fields
  const { content } = json
  if (!isRecord(content)) return json
  const spelled = MEDIA.has(content.type as string) ? spellMedia(content) : content
  const block = json.event === 'content-block-start' ? emptied(spelled) : spelled
  return block === content ? json : { ...json, content: block }
}

/**
 * The engine appends to the block that it announced. If a start event is read late, it already contains what
 * its deltas repeat, so it is emptied.
 */
function emptied(block: Fields): Fields {
  switch (block.type) {
    case 'tool_call_chunk':
      return { ...block, args: '' }
    case 'audio':
      return 'data' in block ? { ...block, data: '' } : block
    default:
      return block
  }
}

const MEDIA = new Set(['image', 'audio', 'video', 'file'])

/** On the wire, `data` has the bytes of media, and names are in snake_case. */
function spellMedia(block: Fields): Fields {
  const { base64: data, mimeType: mime_type, fileId: file_id, ...rest } = block
  return { ...rest, ...defined({ data, mime_type, file_id }) }
}

/** An interrupt of a tool arrives as a list in its error. The tool has not failed; it runs again. */
function isPause({ event, message }: Fields): boolean {
  if (event !== 'tool-error' || typeof message !== 'string' || !message.startsWith('[')) return false
  try {
    const thrown: unknown = JSON.parse(message)
    return (
      Array.isArray(thrown) &&
      thrown.length > 0 &&
      thrown.every((entry) => isRecord(entry) && isInterruptId(entry.id) && 'value' in entry)
    )
  } catch {
    return false
  }
}

/** The engine creates interrupt ids with XXH3, a 128-bit hash. */
const isInterruptId = (id: unknown): boolean => typeof id === 'string' && /^[0-9a-f]{32}$/.test(id)
