import type {
  LifecycleData,
  LoggedEvent,
  TaskData,
  ToolData,
  UpdateData,
} from '../../../messages/thread-events/index.ts'
import { type Fields, type Frame, type FrameRequest, fieldsOf, graphOf, JsonText } from './frame.ts'
import { createMessageFrames } from './message-frames.ts'

const NOTHING: readonly Frame[] = []

/** The start of a chunk of the mode `messages`. */
const MESSAGE_CHUNK = /^{"mode":"messages","data":/

/** Makes the frames of a run from its events, which must arrive in order, from the first one. */
export function createFrames(request: FrameRequest) {
  const { runId, subgraphs, isClassic } = request
  const modes = new Set(request.modes)
  const messages = createMessageFrames(request)
  /** The newest task event of each graph, which a chunk of the mode `debug` repeats. */
  const tasks = new Map<string, LoggedEvent>()
  let token: string | undefined
  let attempt = 0
  let asked = false
  /** The open questions of an agent without tasks. */
  const questions: unknown[] = []

  async function framesOf(event: LoggedEvent): Promise<readonly Frame[]> {
    const frames = [...begin(event), ...(await convert(event))]
    return frames.filter(
      ({ mode, event: name, namespace }) =>
        (mode === undefined || modes.has(mode)) &&
        // A graph shares its writer with its subgraphs.
        (subgraphs || namespace.length === 0 || name === 'custom'),
    )
  }

  /** Each attempt of a run starts with its number. */
  function begin({ eventId, runId: of, method, namespace }: LoggedEvent): readonly Frame[] {
    const next = eventId.split('-', 1)[0]
    const isEnd = attempt > 0 && method === 'lifecycle' && namespace.length === 0
    if (of === '' || next === token || isEnd) return NOTHING
    token = next
    attempt += 1
    return [{ event: 'metadata', namespace: [], data: { run_id: runId, attempt } }]
  }

  async function convert(event: LoggedEvent): Promise<readonly Frame[]> {
    if (event.superseded) return NOTHING
    const { method, namespace } = event
    const whole = (mode: string): Frame => of(mode, namespace, new JsonText(event))
    switch (method) {
      case 'values':
        return [
          whole('values'),
          ...(messages.wantsStates ? messages.complete(namespace, event.data) : NOTHING),
        ]
      case 'updates':
        return [of('updates', namespace, updateOf(event.data))]
      case 'custom': {
        const { data } = event
        return ['name' in data ? whole('custom') : of('custom', namespace, data.payload)]
      }
      case 'tasks':
        tasks.set(namespace.join('|'), event)
        return [...(isClassic ? NOTHING : interruptsOf(namespace, event.data)), whole('tasks')]
      case 'input.requested': {
        const { interrupt_id: id, value, payload } = event.data
        questions.push({ id, value: value ?? payload ?? null })
        return NOTHING
      }
      case 'messages':
        return messages.areWanted ? messages.of(event) : NOTHING
      case 'tools':
        return isClassic ? NOTHING : [of('tools', graphOf(namespace), toolChunk(event.data))]
      case 'chunks':
        return chunks(event)
      case 'lifecycle':
        return namespace.length === 0 ? end(event.data) : NOTHING
      default:
        return NOTHING
    }
  }

  function chunks(event: LoggedEvent<'chunks'>): readonly Frame[] {
    const { namespace } = event
    const message = MESSAGE_CHUNK.exec(event.json)
    // These events are numerous and large.
    if (message) {
      const data = new JsonText({ json: event.json.slice(message[0].length, -1) })
      return [{ ...of('messages', namespace, data, 'messages-tuple'), isOfMessage: true }]
    }
    const { mode, data } = event.data
    switch (mode) {
      case 'interrupt':
        return interrupt(namespace, data)
      case 'metadata':
        messages.note(fieldsOf(data))
        return NOTHING
      case 'events':
        return subgraphs && fieldsOf(data).event === 'on_chain_stream' ? NOTHING : [of('events', [], data)]
      case 'debug':
        return debug(namespace, fieldsOf(data))
      default:
        return [of(mode, namespace, data)]
    }
  }

  function debug(namespace: readonly string[], data: Fields): readonly Frame[] {
    if (data.type !== 'checkpoint')
      return [of('debug', namespace, { ...data, payload: tasks.get(namespace.join('|'))?.data ?? null })]
    const { values, metadata, next } = fieldsOf(data.payload)
    return [of('checkpoints', namespace, { values, metadata, next }), of('debug', namespace, data)]
  }

  function interrupt(namespace: readonly string[], interrupts: unknown): readonly Frame[] {
    asked = true
    const data = { __interrupt__: interrupts }
    return [of('updates', namespace, data), of('values', namespace, data)]
  }

  /** The result of an interrupted task has its interrupts. */
  function interruptsOf(namespace: readonly string[], data: TaskData): readonly Frame[] {
    const { interrupts } = data
    return 'result' in data && interrupts?.length > 0 ? interrupt(namespace, interrupts) : NOTHING
  }

  async function end({ event, error, error_name }: LifecycleData): Promise<readonly Frame[]> {
    if (event === 'failed')
      return [{ event: 'error', namespace: [], data: { error: error_name ?? 'Error', message: error } }]
    const waits = event === 'interrupted' && !isClassic && !asked && !(await request.wasCancelled())
    // Without questions, it is a breakpoint.
    return waits ? interrupt([], questions) : NOTHING
  }

  return {
    framesOf,
    /** The fencing token of the current attempt. */
    token: () => Number(token),
  }
}

const of = (event: string, namespace: readonly string[], data: unknown, mode = event): Frame => ({
  mode,
  event,
  namespace,
  data,
})

function updateOf({ node, values, bare, metadata }: UpdateData): unknown {
  const update = bare === true ? fieldsOf(values).value : values
  return { [node]: update, ...(metadata !== undefined && { __metadata__: metadata }) }
}

/** A chunk of the mode `tools`, from the event that version 3 of the engine made of it. */
function toolChunk(data: ToolData): Fields {
  const { tool_call_id: toolCallId } = data
  switch (data.event) {
    case 'tool-started':
      return { event: 'on_tool_start', toolCallId, name: data.tool_name, input: data.input }
    case 'tool-output-delta':
      return { event: 'on_tool_event', toolCallId, data: data.delta }
    case 'tool-finished':
      return { event: 'on_tool_end', toolCallId, output: data.output }
    case 'tool-error':
      return { event: 'on_tool_error', toolCallId, error: data.message }
  }
}
