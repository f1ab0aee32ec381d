import type { LifecycleData, TaskData, ToolData } from '../../../events/index.ts'
import { fieldOf, parseJson, textOf } from './json.ts'
import type { WireEvent } from './log.ts'

/** A run, a step of it, a tool or a subagent. Times are the server's, in milliseconds since 1970. */
export interface Span {
  readonly id: string
  readonly kind: 'run' | 'step' | 'tool' | 'subagent'
  readonly name: string
  readonly namespace: readonly string[]
  readonly startedAt: number
  /** Undefined while it goes on. */
  readonly endedAt: number | undefined
  readonly status: 'running' | 'completed' | 'failed' | 'interrupted'
  /** When the first message content came, for a run. */
  readonly firstTokenAt: number | undefined
  readonly children: readonly Span[]
}

type Draft = { -readonly [Key in keyof Span]: Span[Key] } & { children: Draft[] }

export interface SpanTree {
  /** The runs of the events that were added, oldest first. */
  readonly runs: readonly Span[]
  add(event: WireEvent): void
}

/** How many runs are kept, the newest ones. */
const MAX_RUNS = 50

/**
 * Makes a tree of the events of a thread. A namespace is a path of steps, each `<node>:<task id>`. A step has the
 * id of its task, whichever of `tasks`, `lifecycle` and `tools` mentions it first.
 */
export function createSpanTree(): SpanTree {
  const runs: Draft[] = []
  let byId = new Map<string, Draft>()

  function open(parent: Draft, id: string, given: Given): Draft {
    const known = byId.get(id)
    if (known) return known
    const span = draftOf(id, { namespace: parent.namespace, ...given })
    byId.set(id, span)
    parent.children.push(span)
    return span
  }

  /** The span of a namespace, created with its ancestors where no event has yet named them. */
  function spanAt(run: Draft, namespace: readonly string[], at: number): Draft {
    const segment = namespace.at(-1)
    if (segment === undefined) return run
    const [name, id] = split(segment)
    const known = byId.get(id)
    if (known) {
      known.namespace = namespace
      return known
    }
    const parent = spanAt(run, namespace.slice(0, -1), at)
    return open(parent, id, { kind: 'step', name, startedAt: at, namespace })
  }

  function begin({ run_id: id, graph_name: name = 'run' }: LifecycleData, seq: number, at: number): void {
    // A run that another process continues begins again under its id.
    if (id !== undefined && runs.at(-1)?.id === id) return
    runs.push(draftOf(id ?? `run at ${seq}`, { kind: 'run', name, startedAt: at, namespace: [] }))
    if (runs.length > MAX_RUNS) runs.shift()
    byId = new Map()
  }

  function addTask(run: Draft, namespace: readonly string[], data: TaskData, at: number): void {
    const { id, name } = data
    const parent = spanAt(run, namespace, at)
    if (data.input !== undefined) {
      open(parent, id, { kind: 'step', name, startedAt: at, namespace: [...namespace, `${name}:${id}`] })
      return
    }
    const span = byId.get(id)
    if (span) end(span, data.error ? 'failed' : data.interrupts?.length > 0 ? 'interrupted' : 'completed', at)
  }

  function addTool(run: Draft, namespace: readonly string[], data: ToolData, at: number): void {
    const { tool_call_id: id } = data
    if (data.event === 'tool-started') {
      open(spanAt(run, namespace, at), id, { ...calledBy(data), startedAt: at, namespace })
      return
    }
    const span = byId.get(id)
    if (span && data.event === 'tool-finished') end(span, 'completed', at)
    if (span && data.event === 'tool-error') end(span, 'failed', at)
  }

  function addLifecycle(run: Draft, namespace: readonly string[], status: string, at: number): void {
    const span = spanAt(run, namespace, at)
    if (!isEnd(status)) return
    end(span, status, at)
    if (span === run) endAll(run, status, at)
  }

  return {
    runs,
    add({ seq, method, params }) {
      const { namespace, timestamp: at } = params
      if (method === 'lifecycle' && namespace.length === 0 && params.data.event === 'running')
        return begin(params.data, seq, at)
      const run = runs.at(-1)
      if (!run) return
      switch (method) {
        case 'lifecycle':
          return addLifecycle(run, namespace, params.data.event, at)
        case 'tasks':
          return addTask(run, namespace, params.data, at)
        case 'tools':
          return addTool(run, namespace, params.data, at)
        case 'messages':
          if (params.data.event === 'content-block-delta') run.firstTokenAt ??= at
      }
      if (namespace.length === 0) return
      const span = spanAt(run, namespace, at)
      // What has a state of its own is an agent.
      if (method === 'values' && span.kind === 'step') span.kind = 'subagent'
    },
  }
}

type Given = Partial<Draft> & Pick<Draft, 'kind' | 'name' | 'startedAt'>

const draftOf = (id: string, given: Given & Pick<Draft, 'namespace'>): Draft => ({
  id,
  endedAt: undefined,
  status: 'running',
  firstTokenAt: undefined,
  children: [],
  ...given,
})

/** Deep agents call their subagents by a tool, `task`, whose input names the subagent. */
function calledBy({
  tool_name: name,
  input,
}: Extract<ToolData, { readonly event: 'tool-started' }>): Pick<Draft, 'kind' | 'name'> {
  // The text that a model wrote need not be JSON.
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

/** What still goes on when its run ends was stopped with it. */
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

/** A span with how deep it is, in the order in which they are shown. */
export interface SpanRow {
  readonly span: Span
  readonly depth: number
}

/**
 * The spans of a run, each below its parent. A step that only calls one tool or subagent is merged with it: its
 * row would say the same twice.
 */
export function rowsOf(span: Span, depth = 0): readonly SpanRow[] {
  const calls = span.children.filter(({ kind }) => kind === 'tool' || kind === 'subagent')
  const [call] = calls
  if (span.kind !== 'run' && call && calls.length === 1) {
    const others = span.children.filter((child) => child !== call)
    const merged = {
      ...call,
      namespace: span.namespace,
      status: worse(span, call),
      children: [...call.children, ...others],
    }
    return [{ span: merged, depth }, ...below(merged, depth)]
  }
  return [{ span, depth }, ...below(span, depth)]
}

const below = (span: Span, depth: number): readonly SpanRow[] =>
  [...span.children].sort((a, b) => a.startedAt - b.startedAt).flatMap((child) => rowsOf(child, depth + 1))

const worse = (a: Span, b: Span): Span['status'] => (b.status === 'completed' ? a.status : b.status)

/** The row of a span, or of the call that its step was merged with. */
export const rowWith = (rows: readonly SpanRow[], id: string): SpanRow | undefined =>
  rows.find(({ span }) => span.id === id) ??
  rows.find(({ span }) => split(span.namespace.at(-1) ?? '')[1] === id)

export const hasSpan = (span: Span, id: string): boolean =>
  span.id === id || span.children.some((child) => hasSpan(child, id))
