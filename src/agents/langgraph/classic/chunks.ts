import { defined, type Fields, filterFields, isRecord } from '../../../messages/record.ts'
import type { StreamModesRun } from '../../agent.ts'
import { refOf } from '../../checkpoint-config.ts'
import { toJson } from '../../to-json.ts'
import type { EngineEvent, GraphChunk } from '../graph.ts'
import { INTERRUPT } from '../snapshot.ts'
import { type CallWatch, createMessageReader } from './messages.ts'

type Namespace = readonly string[]

interface ReaderState {
  readonly wanted: ReadonlySet<string>
  readonly calls: CallWatch
  readonly messages: ReturnType<typeof createMessageReader>
  /** The namespaces of running tools. */
  readonly places: Map<string, Namespace>
}

/**
 * Converts the chunks of a classic run to events of the engine's version 3, and passes on the chunks that the
 * client requested and that cannot be derived from events.
 */
export function createChunkReader({ modes }: StreamModesRun, calls: CallWatch) {
  const lifecycle = createLifecycle()
  const messages = createMessageReader(calls)
  const reader: ReaderState = { wanted: new Set(modes), calls, messages, places: new Map() }
  return {
    read([namespace, mode, data]: GraphChunk): readonly EngineEvent[] {
      const ended = messages.finishEnded()
      const events = [...ended, ...convert(reader, namespace, mode, data as Fields)]
      return events.flatMap((event) => {
        const before = lifecycle.before(event.params.namespace)
        if (event.method === 'tasks') lifecycle.noteTask(event.params.namespace, event.params.data as Fields)
        return [...before, event]
      })
    },
    end: (status: 'completed' | 'failed'): readonly EngineEvent[] => [
      ...(status === 'completed' ? messages.finishAll() : messages.finishEnded()),
      ...lifecycle.end(status),
    ],
  }
}

function convert(
  reader: ReaderState,
  namespace: Namespace,
  mode: string,
  data: Fields,
): readonly EngineEvent[] {
  switch (mode) {
    case 'values':
      return isRecord(data) && INTERRUPT in data
        ? [chunk(namespace, 'interrupt', data[INTERRUPT]), event(mode, namespace, data)]
        : [event(mode, namespace, data)]
    case 'updates':
      return updates(namespace, data)
    case 'messages':
      return messageChunk(reader, namespace, data as unknown as readonly [message: never, metadata: Fields])
    case 'tools':
      return tools(reader, namespace, data)
    case 'custom':
      return [event(mode, namespace, isRecord(data) && 'name' in data ? data : { payload: data })]
    case 'tasks':
      return tasks(reader, namespace, data)
    case 'checkpoints':
      return [event(mode, namespace, data)]
    case 'debug':
      return [debug(namespace, data)]
    default:
      return []
  }
}

function tasks({ messages }: ReaderState, namespace: Namespace, data: Fields): readonly EngineEvent[] {
  if (!('result' in data)) return [event('tasks', namespace, data)]
  const ends = messages.finishIn([...namespace, `${data.name}:${data.id}`].join('|'))
  return [...ends, event('tasks', namespace, data)]
}

function messageChunk(
  { messages, wanted }: ReaderState,
  namespace: Namespace,
  [message, metadata]: readonly [message: never, metadata: Fields],
): readonly EngineEvent[] {
  const events = messages.read(message, metadata)
  const graph = graphOf(namespace, metadata)
  const { event: kind, id } = Object(events[0]?.params.data) as Fields
  return [
    ...(wanted.has('messages-tuple') ? [chunk(graph, 'messages', [message, metadata])] : []),
    ...(wanted.has('messages') && kind === 'message-start'
      ? [chunk(graph, 'metadata', { id, metadata })]
      : []),
    ...events,
  ]
}

function tools(
  { calls, places, wanted }: ReaderState,
  namespace: Namespace,
  data: Fields,
): readonly EngineEvent[] {
  const { event: kind, toolCallId, name } = data
  const key = `${toolCallId} ${name}`
  const found = kind === 'on_tool_start' ? calls.placeOf(toolCallId, name) : undefined
  if (found) places.set(key, found)
  const place = places.get(key)
  // The chunk is the graph's. Before LangGraph 1.6 its namespace is that of the task.
  const graph = place ? place.slice(0, -1) : namespace
  const raw = wanted.has('tools') ? [chunk(graph, 'tools', data)] : []
  return [...raw, event('tools', place ?? namespace, toolData(data))]
}

const event = (method: string, namespace: Namespace, data: unknown, node?: string): EngineEvent => ({
  method,
  params: { namespace, ...(node !== undefined && { node }), data },
})

const chunk = (namespace: Namespace, mode: string, data: unknown): EngineEvent =>
  event('chunks', namespace, { mode, data: toJson(data) })

/**
 * The update of one node. A value that is not an object is wrapped in one, like in version 3, and marked
 * `bare`, because REST clients get the original value.
 */
function updates(namespace: Namespace, data: Fields): readonly EngineEvent[] {
  const { __metadata__: metadata, ...nodes } = data
  return Object.entries(nodes).map(([node, values]) => {
    const isObject = typeof values === 'object' && values !== null
    return event(
      'updates',
      namespace,
      {
        node,
        values: isObject ? values : { value: values },
        ...defined({ bare: isObject ? undefined : true, metadata }),
      },
      node,
    )
  })
}

/**
 * Releases before 1.7 stream a message in the namespace of the task that wrote it, instead of its graph's.
 */
function graphOf(namespace: Namespace, { langgraph_checkpoint_ns: place }: Fields): Namespace {
  return namespace.length > 0 && namespace.join('|') === place ? namespace.slice(0, -1) : namespace
}

function toolData({ event: kind, toolCallId, name, input, data, output, error }: Fields): Fields {
  const call = { tool_call_id: String(toolCallId ?? '') }
  switch (kind) {
    case 'on_tool_start':
      return { event: 'tool-started', ...call, tool_name: String(name ?? 'unknown'), input }
    case 'on_tool_event':
      return {
        event: 'tool-output-delta',
        ...call,
        delta: typeof data === 'string' ? data : JSON.stringify(toJson(data ?? '')),
      }
    case 'on_tool_end':
      return { event: 'tool-finished', ...call, output }
    default:
      return {
        event: 'tool-error',
        ...call,
        message: isRecord(error) ? String(error.message) : String(error),
      }
  }
}

/** A chunk of the mode `debug`. The payload of a task is not repeated, because the previous event has it. */
function debug(namespace: Namespace, { payload, ...data }: Fields): EngineEvent {
  return chunk(
    namespace,
    'debug',
    data.type === 'checkpoint' ? { ...data, payload: checkpoint(payload as Fields) } : data,
  )
}

/** A checkpoint with REST names, without the engine's internals. */
function checkpoint({ config, parentConfig, tasks, ...payload }: Fields): Fields {
  const items = (tasks ?? []) as readonly Fields[]
  return {
    ...payload,
    tasks: items.map(({ state, ...task }) =>
      isRecord(state) ? { ...task, checkpoint: wireRef(state) } : task,
    ),
    checkpoint: wireRef(config),
    parent_checkpoint: wireRef(parentConfig),
    config: withoutInternals(config),
    parent_config: withoutInternals(parentConfig),
  }
}

function wireRef(config: unknown): Fields | null {
  if (!isRecord(config)) return null
  const { threadId, checkpointId, checkpointNs, checkpointMap } = refOf(config)
  return {
    thread_id: threadId,
    checkpoint_id: checkpointId === '' ? null : checkpointId,
    checkpoint_ns: checkpointNs,
    checkpoint_map: checkpointMap,
  }
}

function withoutInternals(config: unknown): unknown {
  if (!isRecord(config)) return undefined
  const { callbacks: _, configurable, ...rest } = config
  return { ...rest, configurable: filterFields(Object(configurable), (key) => !key.startsWith('__')) }
}

type Status = 'started' | 'completed' | 'failed'

/** Reports when nested graphs start and end, which the engine only does itself in version 3. */
function createLifecycle() {
  const running = new Map<string, readonly string[]>()
  const known = new Set<string>()
  /** Ended namespaces, reported after the events of their end. */
  let ending: string[] = []

  const event = (namespace: readonly string[], status: Status): EngineEvent => ({
    method: 'lifecycle',
    params: { namespace, data: { event: status, graph_name: namespace.at(-1)!.split(':', 1)[0] } },
  })

  function ends(keys: readonly string[], status: Status): readonly EngineEvent[] {
    return keys.flatMap((key) => {
      const namespace = running.get(key)
      return namespace && running.delete(key) ? [event(namespace, status)] : []
    })
  }

  function starts(namespace: readonly string[]): readonly EngineEvent[] {
    const events: EngineEvent[] = []
    for (let length = 1; length <= namespace.length; length++) {
      const graph = namespace.slice(0, length)
      const key = graph.join('|')
      if (known.has(key)) continue
      known.add(key)
      running.set(key, graph)
      events.push(event(graph, 'started'))
    }
    return events
  }

  return {
    /** The lifecycle events to send before the events of a namespace. */
    before(namespace: readonly string[]): readonly EngineEvent[] {
      const ended = ends(ending, 'completed')
      ending = []
      return ended.length === 0 && known.has(namespace.join('|')) ? ended : [...ended, ...starts(namespace)]
    },
    /** Records a task of a namespace. When the task has a result, the graph that it ran has ended. */
    noteTask(namespace: readonly string[], task: Fields): void {
      if ('result' in task) ending.push([...namespace, `${task.name}:${task.id}`].join('|'))
    },
    end: (status: 'completed' | 'failed'): readonly EngineEvent[] => {
      const completed = ends(ending, 'completed')
      return [...completed, ...ends([...running.keys()], status)]
    },
  }
}
