import type { Span } from './spans.ts'

/** How far a node is in a run. */
export interface NodeState {
  readonly status: Span['status']
  /** How many of its steps are over. */
  readonly done: number
  /** The step that began last. */
  readonly newest: Span
}

/** The states of the nodes of a run, by their ids. Nodes that had no step have none. */
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

/** The state of what stands for several nodes. Undefined where none of them had a step. */
export const joined = (
  states: ReadonlyMap<string, NodeState>,
  nodes: readonly string[],
): NodeState | undefined =>
  nodes.reduce<NodeState | undefined>((sum, node) => {
    const state = states.get(node)
    return state ? both(sum, state) : sum
  }, undefined)

/** A step that runs comes first, then the step that began last. */
function both(a: NodeState | undefined, b: NodeState): NodeState {
  if (!a) return b
  const newest = b.newest.startedAt >= a.newest.startedAt ? b.newest : a.newest
  const isRunning = a.status === 'running' || b.status === 'running'
  return { status: isRunning ? 'running' : newest.status, done: a.done + b.done, newest }
}

/** The node of a step: the names in its namespace. Calls of tools are in the namespace of their step. */
function nodeOf({ id, namespace }: Span): string | undefined {
  return namespace.at(-1)?.endsWith(`:${id}`) ? namespace.map(nameOf).join(':') : undefined
}

const nameOf = (segment: string): string => segment.slice(0, segment.indexOf(':'))

/** The drawn node that a step of a run is of: its own, or the closest one around it. */
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
