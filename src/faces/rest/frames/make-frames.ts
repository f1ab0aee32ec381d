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
  const { subgraphs } = request
  const modes = new Set(request.modes)
  const course: Course = {
    request,
    messages: createMessageFrames(request),
    tasks: new Map(),
    token: undefined,
    attempt: 0,
    hasAsked: false,
    questions: [],
  }
  return {
    async framesOf(event: LoggedEvent): Promise<readonly Frame[]> {
      const frames = [...begin(course, event), ...(await convert(course, event))]
      return frames.filter(
        ({ mode, event: name, namespace }) =>
          (mode === undefined || modes.has(mode)) &&
          // A graph shares its writer with its subgraphs.
          (subgraphs || namespace.length === 0 || name === 'custom'),
      )
    },
    /** The fencing token of the current attempt. */
    token: () => Number(course.token),
  }
}

/** The course of a run so far. */
interface Course {
  readonly request: FrameRequest
  readonly messages: ReturnType<typeof createMessageFrames>
  /** The newest task event of each graph, which a chunk of the mode `debug` repeats. */
  readonly tasks: Map<string, LoggedEvent>
  token: string | undefined
  attempt: number
  hasAsked: boolean
  /** The open questions of an agent without tasks. */
  readonly questions: unknown[]
}

/** Each attempt of a run starts with its number. */
function begin(course: Course, { eventId, runId: of, method, namespace }: LoggedEvent): readonly Frame[] {
  const next = eventId.split('-', 1)[0]
  const isEnd = course.attempt > 0 && method === 'lifecycle' && namespace.length === 0
  if (of === '' || next === course.token || isEnd) return NOTHING
  course.token = next
  course.attempt += 1
  const data = { run_id: course.request.runId, attempt: course.attempt }
  return [{ event: 'metadata', namespace: [], data }]
}

async function convert(course: Course, event: LoggedEvent): Promise<readonly Frame[]> {
  if (event.superseded) return NOTHING
  const { messages } = course
  const { isClassic } = course.request
  const { method, namespace } = event
  const whole = (mode: string): Frame => of(mode, namespace, new JsonText(event))
  switch (method) {
    case 'values':
      return [whole('values'), ...(messages.wantsStates ? messages.complete(namespace, event.data) : NOTHING)]
    case 'updates':
      return [of('updates', namespace, updateOf(event.data))]
    case 'custom': {
      const { data } = event
      return ['name' in data ? whole('custom') : of('custom', namespace, data.payload)]
    }
    case 'tasks':
      course.tasks.set(namespace.join('|'), event)
      return [...(isClassic ? NOTHING : interruptsOf(course, namespace, event.data)), whole('tasks')]
    case 'input.requested': {
      const { interrupt_id: id, value, payload } = event.data
      course.questions.push({ id, value: value ?? payload ?? null })
      return NOTHING
    }
    case 'messages':
      return messages.areWanted ? messages.of(event) : NOTHING
    case 'tools':
      return isClassic ? NOTHING : [of('tools', graphOf(namespace), toolChunk(event.data))]
    case 'chunks':
      return chunks(course, event)
    case 'lifecycle':
      return namespace.length === 0 ? end(course, event.data) : NOTHING
    default:
      return NOTHING
  }
}

function chunks(course: Course, event: LoggedEvent<'chunks'>): readonly Frame[] {
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
      return interrupt(course, namespace, data)
    case 'metadata':
      course.messages.note(fieldsOf(data))
      return NOTHING
    case 'events': {
      const isLeftOut = course.request.subgraphs && fieldsOf(data).event === 'on_chain_stream'
      return isLeftOut ? NOTHING : [of('events', [], data)]
    }
    case 'debug':
      return debug(course, namespace, fieldsOf(data))
    default:
      return [of(mode, namespace, data)]
  }
}

function debug({ tasks }: Course, namespace: readonly string[], data: Fields): readonly Frame[] {
  if (data.type !== 'checkpoint')
    return [of('debug', namespace, { ...data, payload: tasks.get(namespace.join('|'))?.data ?? null })]
  const { values, metadata, next } = fieldsOf(data.payload)
  return [of('checkpoints', namespace, { values, metadata, next }), of('debug', namespace, data)]
}

function interrupt(course: Course, namespace: readonly string[], interrupts: unknown): readonly Frame[] {
  course.hasAsked = true
  const data = { __interrupt__: interrupts }
  return [of('updates', namespace, data), of('values', namespace, data)]
}

/** The result of an interrupted task has its interrupts. */
function interruptsOf(course: Course, namespace: readonly string[], data: TaskData): readonly Frame[] {
  const { interrupts } = data
  return 'result' in data && interrupts?.length > 0 ? interrupt(course, namespace, interrupts) : NOTHING
}

async function end(course: Course, { event, error, error_name }: LifecycleData): Promise<readonly Frame[]> {
  if (event === 'failed')
    return [{ event: 'error', namespace: [], data: { error: error_name ?? 'Error', message: error } }]
  const { isClassic, wasCancelled } = course.request
  const waits = event === 'interrupted' && !isClassic && !course.hasAsked && !(await wasCancelled())
  // Without questions, it is a breakpoint.
  return waits ? interrupt(course, [], course.questions) : NOTHING
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
