import { fieldOf, textOf } from './json.ts'
import type { WireEvent } from './log.ts'

/** Something that takes time: a run, a step of it, a tool, a subagent. Times are the server's, in milliseconds since 1970. */
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
 * Makes a tree of the events of a thread. A namespace is a path of steps, each `<node>:<task id>`, so a step is found under its
 * task's id, whichever of `tasks`, `lifecycle` and `tools` tells of it first.
 */
export function createSpanTree(): SpanTree {
  const runs: Draft[] = []
  let byId = new Map<string, Draft>()

  function open(
    parent: Draft,
    id: string,
    given: Partial<Draft> & Pick<Draft, 'kind' | 'name' | 'startedAt'>,
  ): Draft {
    const known = byId.get(id)
    if (known) return known
    const span: Draft = {
      id,
      namespace: parent.namespace,
      endedAt: undefined,
      status: 'running',
      firstTokenAt: undefined,
      children: [],
      ...given,
    }
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

  function begin(event: WireEvent): void {
    const at = event.params.timestamp
    const id = textOf(fieldOf(event.params.data, 'run_id')) ?? `run at ${event.seq}`
    // A run that another process goes on with begins again under its id.
    if (runs.at(-1)?.id === id) return
    const name = textOf(fieldOf(event.params.data, 'graph_name')) ?? 'run'
    runs.push({
      id,
      kind: 'run',
      name,
      namespace: [],
      startedAt: at,
      endedAt: undefined,
      status: 'running',
      firstTokenAt: undefined,
      children: [],
    })
    if (runs.length > MAX_RUNS) runs.shift()
    byId = new Map()
  }

  return {
    runs,
    add(event) {
      const { method, params } = event
      const { namespace, timestamp: at, data } = params
      const status = textOf(fieldOf(data, 'event'))
      if (method === 'lifecycle' && namespace.length === 0 && status === 'running') return begin(event)
      const run = runs.at(-1)
      if (!run) return
      if (method === 'lifecycle') {
        const span = spanAt(run, namespace, at)
        if (isEnd(status)) end(span, status, at)
        if (span === run && isEnd(status)) endAll(run, status, at)
      } else if (method === 'tasks') addTask(run, namespace, data, at)
      else if (method === 'tools') addTool(run, namespace, data, at)
      else if (method === 'messages' && status === 'content-block-delta') run.firstTokenAt ??= at
      else if (namespace.length > 0) noteSubagent(spanAt(run, namespace, at), method)
    },
  }

  function addTask(run: Draft, namespace: readonly string[], data: unknown, at: number): void {
    const id = textOf(fieldOf(data, 'id'))
    if (id === undefined) return
    const name = textOf(fieldOf(data, 'name')) ?? id
    const parent = spanAt(run, namespace, at)
    if (fieldOf(data, 'input') !== undefined) {
      open(parent, id, { kind: 'step', name, startedAt: at, namespace: [...namespace, `${name}:${id}`] })
      return
    }
    const span = byId.get(id)
    const interrupts = fieldOf(data, 'interrupts')
    const waits = Array.isArray(interrupts) && interrupts.length > 0
    if (span) end(span, fieldOf(data, 'error') ? 'failed' : waits ? 'interrupted' : 'completed', at)
  }

  function addTool(run: Draft, namespace: readonly string[], data: unknown, at: number): void {
    const event = textOf(fieldOf(data, 'event'))
    const id = textOf(fieldOf(data, 'tool_call_id'))
    if (id === undefined) return
    if (event === 'tool-started') {
      const { name, kind } = toolOf(data)
      open(spanAt(run, namespace, at), id, { kind, name, startedAt: at, namespace })
    }
    const span = byId.get(id)
    if (span && event === 'tool-finished') end(span, 'completed', at)
    if (span && event === 'tool-error') end(span, 'failed', at)
  }
}

/** Deep agents call their subagents by a tool, `task`, whose input names the one that is meant. */
function toolOf(data: unknown): { readonly name: string; readonly kind: 'tool' | 'subagent' } {
  const name = textOf(fieldOf(data, 'tool_name')) ?? 'tool'
  const subagent = textOf(fieldOf(inputOf(fieldOf(data, 'input')), 'subagent_type'))
  return subagent === undefined ? { name, kind: 'tool' } : { name: subagent, kind: 'subagent' }
}

function inputOf(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input // The text that a model wrote need not be JSON.
  }
}

/** What has a state of its own is an agent. */
function noteSubagent(span: Draft, method: string): void {
  if (method === 'values' && span.kind === 'step') span.kind = 'subagent'
}

const ENDS = ['completed', 'failed', 'interrupted'] as const
type End = (typeof ENDS)[number]
const isEnd = (status: string | undefined): status is End => ENDS.some((end) => end === status)

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
 * The spans of a run, each below its parent. A step that does nothing but call one tool or subagent is left out for it: its row
 * would say the same twice.
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
