import type {
  EventData,
  LifecycleData,
  TaskData,
  ToolData,
} from '../../../../messages/thread-events/index.ts'
import { fieldOf, parseJson, textOf } from './json.ts'
import type { WireEvent } from './log.ts'
import { createModelCalls, MODEL } from './model-calls.ts'
import type { ModelCall } from './usage.ts'

/** A run, a step, a tool call, a subagent or a model call. Times are the server's, in milliseconds since 1970. */
export interface Span {
  readonly id: string
  readonly kind: 'run' | 'step' | 'tool' | 'subagent' | 'model'
  readonly name: string
  readonly namespace: readonly string[]
  readonly startedAt: number
  /** Undefined while it runs. */
  readonly endedAt: number | undefined
  readonly status: 'running' | 'completed' | 'failed' | 'interrupted'
  /** When the first message content came, for a run. */
  readonly firstTokenAt: number | undefined
  readonly firstSeq: number
  /** The sequence numbers of the events with its input and its output. */
  readonly inputSeq: number | undefined
  readonly outputSeq: number | undefined
  readonly error: string | undefined
  /** The position of a model call's message in the update of its step. */
  readonly message: { readonly seq: number; readonly id: string } | undefined
  /** The interrupts that it waits for. */
  readonly interrupts: readonly string[]
  /** Its own model calls that reported their tokens. */
  readonly calls: readonly ModelCall[]
  readonly children: readonly Span[]
}

type Draft = { -readonly [Key in Exclude<keyof Span, 'children' | 'calls'>]: Span[Key] } & {
  children: Draft[]
  calls: ModelCall[]
}

export interface SpanTree {
  /** The runs of the events that were added, oldest first. */
  readonly runs: readonly Span[]
  add(event: WireEvent): void
}

/** The number of runs to keep, newest first. */
const MAX_RUNS = 50

/** A position in the log. */
interface Place {
  readonly seq: number
  readonly at: number
  readonly namespace: readonly string[]
}

/**
 * Makes a tree of the events of a thread. A namespace is a path of steps, each `<node>:<task id>`. A step has the
 * id of its task, whichever of `tasks`, `lifecycle` and `tools` mentions it first.
 */
export function createSpanTree(): SpanTree {
  const runs: Draft[] = []
  const drafts: Drafts = { runs, byId: new Map(), models: createModelCalls() }
  return {
    runs,
    add({ seq, method, params }) {
      const { namespace, timestamp: at } = params
      const place = { seq, at, namespace }
      if (method === 'lifecycle' && namespace.length === 0 && params.data.event === 'running')
        return begin(drafts, params.data, place)
      const run = runs.at(-1)
      if (!run) return
      switch (method) {
        case 'lifecycle':
          return addLifecycle(drafts, run, place, params.data)
        case 'tasks':
          return addTask(drafts, run, place, params.data)
        case 'tools':
          return addTool(drafts, run, place, params.data)
        case 'messages':
          if (params.data.event === 'content-block-delta') run.firstTokenAt ??= at
          addMessage(drafts, run, place, params.node, params.data)
      }
      const span = spanAt(drafts, run, place)
      if (method !== 'values') return
      // A namespace with its own state is an agent.
      if (span.kind === 'step') span.kind = 'subagent'
      if (span.kind !== 'run') return
      span.inputSeq ??= seq
      span.outputSeq = seq
    },
  }
}

/** The runs so far, and the spans and model calls of the last one. */
interface Drafts {
  readonly runs: Draft[]
  byId: Map<string, Draft>
  models: ReturnType<typeof createModelCalls<Draft>>
}

function open({ byId }: Drafts, parent: Draft, id: string, { seq, at }: Place, given: DraftFields): Draft {
  const known = byId.get(id)
  if (known) return known
  const span = draftOf(id, { namespace: parent.namespace, startedAt: at, firstSeq: seq, ...given })
  byId.set(id, span)
  parent.children.push(span)
  return span
}

/** The span of a namespace. It and its ancestors are created if no event has named them yet. */
function spanAt(drafts: Drafts, run: Draft, place: Place, namespace = place.namespace): Draft {
  const segment = namespace.at(-1)
  if (segment === undefined) return run
  const [name, id] = split(segment)
  const known = drafts.byId.get(id)
  if (known) {
    known.namespace = namespace
    return known
  }
  const parent = spanAt(drafts, run, place, namespace.slice(0, -1))
  return open(drafts, parent, id, place, { kind: 'step', name, namespace })
}

function begin(
  drafts: Drafts,
  { run_id: id, graph_name: name = 'run' }: LifecycleData,
  { seq, at }: Place,
): void {
  const { runs } = drafts
  // A run that another process continues begins again under its id.
  if (id !== undefined && runs.at(-1)?.id === id) return
  const about = { kind: 'run', name, namespace: [], startedAt: at, firstSeq: seq } as const
  runs.push(draftOf(id ?? `run at ${seq}`, about))
  if (runs.length > MAX_RUNS) runs.shift()
  drafts.byId = new Map()
  drafts.models = createModelCalls()
}

function addTask(drafts: Drafts, run: Draft, place: Place, data: TaskData): void {
  const { id, name, input, result, error, interrupts = [] } = data
  const parent = spanAt(drafts, run, place)
  if (input !== undefined) {
    const namespace = [...place.namespace, `${name}:${id}`]
    open(drafts, parent, id, place, { kind: 'step', name, namespace }).inputSeq = place.seq
    drafts.models.addInput(input)
    return
  }
  const span = drafts.byId.get(id)
  if (!span) return
  span.outputSeq = place.seq
  span.error = errorText(error)
  span.interrupts = interrupts.map((one) => one.id)
  for (const call of drafts.models.addResult(result, place.seq)) span.calls.push(call)
  end(span, error ? 'failed' : interrupts.length > 0 ? 'interrupted' : 'completed', place.at)
}

function addTool(drafts: Drafts, run: Draft, place: Place, data: ToolData): void {
  const { tool_call_id: id } = data
  if (data.event === 'tool-started') {
    const { namespace, seq } = place
    open(drafts, spanAt(drafts, run, place), id, place, { ...calledBy(data), namespace, inputSeq: seq })
    return
  }
  const span = drafts.byId.get(id)
  if (!span || data.event === 'tool-output-delta') return
  span.outputSeq = place.seq
  if (data.event === 'tool-error') span.error = data.message
  end(span, data.event === 'tool-error' ? 'failed' : 'completed', place.at)
}

function addLifecycle(
  drafts: Drafts,
  run: Draft,
  place: Place,
  { event: status, error }: LifecycleData,
): void {
  const span = spanAt(drafts, run, place)
  if (!isEnd(status)) return
  end(span, status, place.at)
  span.error ??= errorText(error)
  if (span === run) endAll(run, status, place.at)
}

function addMessage(
  drafts: Drafts,
  run: Draft,
  place: Place,
  node: string | undefined,
  data: EventData['messages'],
): void {
  const key = JSON.stringify([place.namespace, data.run_id])
  const ended = drafts.models.push(key, data, (messageId) => {
    const span = spanAt(drafts, run, place)
    // A function writes outside of the namespace of its step.
    const step = span.children.findLast(({ name, status }) => name === node && status === 'running') ?? span
    return open(drafts, step, data.run_id ?? messageId, place, { kind: 'model', name: MODEL })
  })
  if (!ended) return
  ended.outputSeq = place.seq
  if (data.event === 'error') ended.error = data.message
  end(ended, data.event === 'error' ? 'failed' : 'completed', place.at)
}

type DraftFields = Partial<Draft> & Pick<Draft, 'kind' | 'name'>

const draftOf = (
  id: string,
  given: DraftFields & Pick<Draft, 'namespace' | 'startedAt' | 'firstSeq'>,
): Draft => ({
  id,
  endedAt: undefined,
  status: 'running',
  firstTokenAt: undefined,
  inputSeq: undefined,
  outputSeq: undefined,
  error: undefined,
  message: undefined,
  interrupts: [],
  calls: [],
  children: [],
  ...given,
})

function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  return textOf(error) ?? textOf(fieldOf(error, 'message')) ?? JSON.stringify(error)
}

/** Deep agents call their subagents with a tool, `task`, whose input names the subagent. */
function calledBy({
  tool_name: name,
  input,
}: Extract<ToolData, { readonly event: 'tool-started' }>): Pick<Draft, 'kind' | 'name'> {
  // A model may write text that is not JSON.
  const parsed = parseJson(input)
  const subagent = textOf(fieldOf('value' in parsed ? parsed.value : undefined, 'subagent_type'))
  return subagent === undefined ? { name, kind: 'tool' } : { name: subagent, kind: 'subagent' }
}

const ENDS = ['completed', 'failed', 'interrupted'] as const
type End = (typeof ENDS)[number]
const isEnd = (status: string): status is End => ENDS.some((end) => end === status)

function end(span: Draft, status: End, at: number): void {
  span.endedAt = at
  span.status = status
}

/** Spans that are still open when their run ends were stopped with it. */
function endAll(span: Draft, status: End, at: number): void {
  for (const child of span.children) {
    if (child.status === 'running') end(child, status === 'completed' ? 'completed' : 'interrupted', at)
    endAll(child, status, at)
  }
}

/** `tools:<task id>` as its two parts. */
function split(segment: string): [name: string, id: string] {
  const at = segment.indexOf(':')
  return at < 0 ? [segment, segment] : [segment.slice(0, at), segment.slice(at + 1)]
}

/** The id in a segment of a namespace, such as that of a task. */
export const segmentId = (segment: string): string => split(segment)[1]

/** A span and its depth, in display order. */
export interface SpanRow {
  readonly span: Span
  readonly depth: number
  /** The ids of the spans in this row: more than one if a step is merged with its call. */
  readonly ids: readonly string[]
}

/**
 * The spans of a run, each below its parent. A step that only calls one subagent is merged with it, and so is one of a
 * function, which has no tasks for its tools: its row would say the same twice.
 */
export function rowsOf(span: Span, depth = 0): readonly SpanRow[] {
  const calls = span.children.filter(({ kind }) => kind === 'tool' || kind === 'subagent')
  const [call] = calls
  const isSame = call?.kind === 'subagent' || span.inputSeq === undefined
  if (span.kind !== 'run' && call && calls.length === 1 && isSame) {
    const others = span.children.filter((child) => child !== call)
    const merged = {
      ...call,
      namespace: span.namespace,
      status: worse(span, call),
      firstSeq: Math.min(span.firstSeq, call.firstSeq),
      error: call.error ?? span.error,
      calls: [...span.calls, ...call.calls],
      children: [...call.children, ...others],
    }
    return [{ span: merged, depth, ids: [call.id, span.id] }, ...below(merged, depth)]
  }
  return [{ span, depth, ids: [span.id] }, ...below(span, depth)]
}

const below = (span: Span, depth: number): readonly SpanRow[] =>
  [...span.children].sort((a, b) => a.startedAt - b.startedAt).flatMap((child) => rowsOf(child, depth + 1))

const worse = (a: Span, b: Span): Span['status'] => (b.status === 'completed' ? a.status : b.status)

/** The row of a span, or of the call that its step was merged with. */
export const rowWith = (rows: readonly SpanRow[], id: string): SpanRow | undefined =>
  rows.find(({ ids }) => ids.includes(id))

/** The step of the agent from which the run of a row can be repeated: its own, or the first one of a run. */
export function stepOf(run: Span, ids: SpanRow['ids']): Span | undefined {
  const steps = run.children.filter(({ id, namespace }) => namespace.at(-1)?.endsWith(`:${id}`))
  return ids.includes(run.id) ? steps[0] : steps.find(({ id }) => ids.includes(id))
}

/** A span and its descendants. */
export const withInner = (span: Span): readonly Span[] => [span, ...span.children.flatMap(withInner)]

export const hasSpan = (span: Span, id: string): boolean => withInner(span).some((one) => one.id === id)
