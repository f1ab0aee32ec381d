import type { Span } from './spans.ts'

/** The progress of a node in a run. */
export interface NodeState {
  readonly status: Span['status']
  /** The number of its steps that have ended. */
  readonly done: number
  /** The newest step. */
  readonly newest: Span
}

/** The states of a run's nodes, by id. Nodes without a step have none. */
export function statesOf(run: Span): ReadonlyMap<string, NodeState> {
  const states = new Map<string, NodeState>()
  function visit(span: Span): void {
    const node = nodeOf(span)
    if (node !== undefined) states.set(node, both(states.get(node), stateOf(span)))
    for (const child of span.children) visit(child)
  }
  visit(run)
  return states
}

const stateOf = (span: Span): NodeState => ({
  status: span.status,
  done: span.status === 'completed' ? 1 : 0,
  newest: span,
})

/** The combined state of several nodes. Undefined if none of them had a step. */
export const joined = (
  states: ReadonlyMap<string, NodeState>,
  nodes: readonly string[],
): NodeState | undefined =>
  nodes.reduce<NodeState | undefined>((sum, node) => {
    const state = states.get(node)
    return state ? both(sum, state) : sum
  }, undefined)

/** A running step takes precedence, then the newest step. */
function both(a: NodeState | undefined, b: NodeState): NodeState {
  if (!a) return b
  const newest = b.newest.startedAt >= a.newest.startedAt ? b.newest : a.newest
  const isRunning = a.status === 'running' || b.status === 'running'
  return { status: isRunning ? 'running' : newest.status, done: a.done + b.done, newest }
}

/** The node of a step: the names in its namespace. Tool calls are in the namespace of their step. */
function nodeOf({ id, namespace }: Span): string | undefined {
  return namespace.at(-1)?.endsWith(`:${id}`) ? namespace.map(nameOf).join(':') : undefined
}

const nameOf = (segment: string): string => segment.slice(0, segment.indexOf(':'))

/** The drawn node of a step: its own, or the closest one that contains it. */
export function nodeWith(run: Span, id: string, isDrawn: (node: string) => boolean): string | undefined {
  const path = pathTo(run, id)
  return path?.map(nodeOf).findLast((node): node is string => node !== undefined && isDrawn(node))
}

function pathTo(span: Span, id: string): readonly Span[] | undefined {
  if (span.id === id) return [span]
  for (const child of span.children) {
    const path = pathTo(child, id)
    if (path) return [span, ...path]
  }
  return undefined
}
