import type { ThreadEvent } from '../../runs/index.ts'
import { type Fields, type Frame, type FrameRequest, fieldsOf, graphOf } from './frame.ts'
import { createMessageFrames } from './message-frames.ts'

const NOTHING: readonly Frame[] = []

/** Makes the frames of one run from its events, which must come in order and from the first one on. */
export function createFrames(request: FrameRequest) {
  const { runId, subgraphs, isClassic } = request
  const modes = new Set(request.modes)
  const messages = createMessageFrames(request)
  /** The newest task event of each graph, which a chunk of the mode `debug` repeats. */
  const tasks = new Map<string, unknown>()
  let token: string | undefined
  let attempt = 0
  let asked = false
  /** The open questions of an agent without tasks. */
  const questions: unknown[] = []

  async function framesOf(event: ThreadEvent): Promise<readonly Frame[]> {
    const frames = [...begin(event), ...(await convert(event))]
    return frames.filter(
      ({ mode, event: name, namespace }) =>
        (mode === undefined || modes.has(mode)) &&
        // The writer of a graph is that of its subgraphs too.
        (subgraphs || namespace.length === 0 || name === 'custom'),
    )
  }

  /** Each attempt of a run begins with its number. */
  function begin({ eventId, runId: of, method, namespace }: ThreadEvent): readonly Frame[] {
    const next = eventId.split('-', 1)[0]
    const isEnd = attempt > 0 && method === 'lifecycle' && namespace.length === 0
    if (of === '' || next === token || isEnd) return NOTHING
    token = next
    attempt += 1
    return [{ event: 'metadata', namespace: [], data: { run_id: runId, attempt } }]
  }

  async function convert({
    method,
    namespace,
    data: raw,
    superseded,
    ...event
  }: ThreadEvent): Promise<readonly Frame[]> {
    if (superseded) return NOTHING
    const data = fieldsOf(raw)
    switch (method) {
      case 'values':
        return [of('values', namespace, raw), ...messages.complete(namespace, raw)]
      case 'updates':
        return [of('updates', namespace, updateOf(data))]
      case 'custom':
        return [of('custom', namespace, 'name' in data ? raw : data.payload)]
      case 'tasks':
        tasks.set(namespace.join('|'), raw)
        return [...(isClassic ? NOTHING : interruptsOf(namespace, data)), of('tasks', namespace, raw)]
      case 'input.requested':
        questions.push({ id: data.interrupt_id, value: data.value ?? data.payload ?? null })
        return NOTHING
      case 'messages':
        return messages.of(namespace, event.node, data)
      case 'tools':
        return isClassic ? NOTHING : [of('tools', graphOf(namespace), toolChunk(data))]
      case 'chunks':
        return chunks(namespace, data)
      case 'lifecycle':
        return namespace.length === 0 ? end(data) : NOTHING
      default:
        return NOTHING
    }
  }

  function chunks(namespace: readonly string[], { mode, data }: Fields): readonly Frame[] {
    switch (mode) {
      case 'interrupt':
        return interrupt(namespace, data)
      case 'messages':
        return [{ ...of('messages', namespace, data, 'messages-tuple'), isOfMessage: true }]
      case 'metadata':
        messages.note(fieldsOf(data))
        return NOTHING
      case 'events':
        return subgraphs && fieldsOf(data).event === 'on_chain_stream' ? NOTHING : [of('events', [], data)]
      case 'debug':
        return debug(namespace, fieldsOf(data))
      default:
        return [of(String(mode), namespace, data)]
    }
  }

  function debug(namespace: readonly string[], data: Fields): readonly Frame[] {
    if (data.type !== 'checkpoint')
      return [of('debug', namespace, { ...data, payload: tasks.get(namespace.join('|')) ?? null })]
    const { values, metadata, next } = fieldsOf(data.payload)
    return [of('checkpoints', namespace, { values, metadata, next }), of('debug', namespace, data)]
  }

  function interrupt(namespace: readonly string[], interrupts: unknown): readonly Frame[] {
    asked = true
    const data = { __interrupt__: interrupts }
    return [of('updates', namespace, data), of('values', namespace, data)]
  }

  /** A task that waits says so in its result. */
  function interruptsOf(namespace: readonly string[], data: Fields): readonly Frame[] {
    const { interrupts } = data
    return 'result' in data && Array.isArray(interrupts) && interrupts.length > 0
      ? interrupt(namespace, interrupts)
      : NOTHING
  }

  async function end({ event, error, error_name }: Fields): Promise<readonly Frame[]> {
    if (event === 'failed')
      return [{ event: 'error', namespace: [], data: { error: error_name ?? 'Error', message: error } }]
    const waits = event === 'interrupted' && !isClassic && !asked && !(await request.wasCancelled())
    // Without questions it is a breakpoint.
    return waits ? interrupt([], questions) : NOTHING
  }

  return {
    framesOf,
    /** The fencing token of the attempt whose events are read. */
    token: () => Number(token),
  }
}

const of = (event: string, namespace: readonly string[], data: unknown, mode = event): Frame => ({
  mode,
  event,
  namespace,
  data,
})

function updateOf({ node, values, bare, metadata }: Fields): unknown {
  const update = bare === true ? fieldsOf(values).value : values
  return { [String(node)]: update, ...(metadata !== undefined && { __metadata__: metadata }) }
}

/** A chunk of the mode `tools`, from the event that version 3 of the engine made of it. */
function toolChunk({
  event,
  tool_call_id: toolCallId,
  tool_name: name,
  input,
  delta,
  output,
  message,
}: Fields): Fields {
  switch (event) {
    case 'tool-started':
      return { event: 'on_tool_start', toolCallId, name, input }
    case 'tool-output-delta':
      return { event: 'on_tool_event', toolCallId, data: delta }
    case 'tool-finished':
      return { event: 'on_tool_end', toolCallId, output }
    default:
      return { event: 'on_tool_error', toolCallId, error: message }
  }
}
