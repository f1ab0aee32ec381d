import type { AgentGraph } from '../../wire.ts'
import { middlewareOf, type Phase } from './middleware.ts'
import type { Span } from './spans.ts'

/** Longer names are cut. */
export const MAX_LETTERS = 34

/** A graph as it is displayed. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly boxes: readonly Box[]
  readonly edges: readonly DrawnEdge[]
}

/** One node, or the middleware of one phase folded into one. */
export interface DrawnNode {
  readonly id: string
  readonly kind: 'start' | 'end' | 'step' | 'middleware'
  readonly label: string
  /** The text below the label: the tools, or the folded middleware. */
  readonly note: string
  /** The nodes of the graph that it represents. */
  readonly members: readonly string[]
  /** The box that contains it. */
  readonly box: string | undefined
}

/** A subgraph. Its id is that of the node that calls it. */
export interface Box {
  readonly id: string
  readonly label: string
  readonly box: string | undefined
}

export interface DrawnEdge {
  readonly source: string
  readonly target: string
  readonly isConditional: boolean
  readonly label: string
}

/** Draws a graph. Middleware is folded into one node for each phase of an agent, or shown node by node. */
export function drawingOf(graph: AgentGraph, isUnfolded: boolean): Drawing {
  const nodes = isUnfolded ? graph.nodes.map(nodeOf) : folded(graph.nodes.map(nodeOf))
  const drawnAs = new Map(nodes.flatMap(({ id, members }) => members.map((member) => [member, id])))
  const boxes = new Map<string, Box>()
  for (const { box } of nodes) addBox(boxes, box)
  return { nodes, boxes: [...boxes.values()], edges: edgesOf(graph.edges, drawnAs) }
}

export const countMiddleware = ({ nodes }: AgentGraph): number =>
  nodes.filter(({ id }) => middlewareOf(nameOf(id))).length

function nodeOf({ id, tools }: AgentGraph['nodes'][number]): DrawnNode {
  const name = nameOf(id)
  const about = { id, members: [id], box: boxOf(id) }
  if (name === '__start__') return { ...about, kind: 'start', label: 'start', note: '' }
  if (name === '__end__') return { ...about, kind: 'end', label: 'end', note: '' }
  const middleware = middlewareOf(name)
  if (middleware)
    return { ...about, kind: 'middleware', label: middleware.name, note: wordsOf(middleware.phase) }
  const note = tools.length > 2 ? `${tools.length} tools` : tools.join(', ')
  return { ...about, kind: 'step', label: name, note }
}

const wordsOf = (phase: Phase): string => phase.replace('_', ' ')

/** Replaces the middleware of each phase and subgraph with one node, at the position of the first. */
function folded(nodes: readonly DrawnNode[]): readonly DrawnNode[] {
  const groups = new Map<string, DrawnNode[]>()
  for (const node of nodes) {
    const key = node.kind === 'middleware' ? `${node.box ?? ''}:${node.note}` : node.id
    groups.set(key, [...(groups.get(key) ?? []), node])
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [DrawnNode]
    if (first.kind !== 'middleware') return first
    const note = group.length === 1 ? first.label : `${group.length} middlewares`
    return { ...first, label: first.note, note, members: group.flatMap(({ members }) => members) }
  })
}

function addBox(boxes: Map<string, Box>, id: string | undefined): void {
  if (id === undefined || boxes.has(id)) return
  const box = boxOf(id)
  addBox(boxes, box)
  boxes.set(id, { id, label: nameOf(id), box })
}

/** One edge for each pair of displayed nodes. It is unconditional if one of its edges is. */
function edgesOf(edges: AgentGraph['edges'], drawnAs: ReadonlyMap<string, string>): readonly DrawnEdge[] {
  const drawn = new Map<string, DrawnEdge>()
  for (const edge of edges) {
    const source = drawnAs.get(edge.source)
    const target = drawnAs.get(edge.target)
    if (source === undefined || target === undefined) continue
    // There is no edge between two nodes that are folded into one. A step may lead to itself.
    if (source === target && edge.source !== edge.target) continue
    const key = JSON.stringify([source, target])
    const known = drawn.get(key)
    const labels = [known?.label, edge.label].filter((label) => label)
    drawn.set(key, {
      source,
      target,
      isConditional: edge.conditional && known?.isConditional !== false,
      label: labels.join(', '),
    })
  }
  return [...drawn.values()]
}

/** LangGraph does not allow colons in node names. */
const nameOf = (id: string): string => id.slice(id.lastIndexOf(':') + 1)

const boxOf = (id: string): string | undefined =>
  id.includes(':') ? id.slice(0, id.lastIndexOf(':')) : undefined

/** The progress of a node in a run. */
export interface NodeState {
  readonly status: Span['status']
  readonly done: number
  /** The newest step. */
  readonly newest: Span
}

/** The states of a run's nodes, by id. Nodes without a step have none. */
export function statesOf(run: Span): ReadonlyMap<string, NodeState> {
  const states = new Map<string, NodeState>()
  function visit(span: Span): void {
    const node = nodeOfStep(span)
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
function nodeOfStep({ id, namespace }: Span): string | undefined {
  return namespace.at(-1)?.endsWith(`:${id}`) ? namespace.map(stepName).join(':') : undefined
}

const stepName = (segment: string): string => segment.slice(0, segment.indexOf(':'))

/** The drawn node of a step: its own, or the closest one that contains it. */
export function nodeWith(run: Span, id: string, isDrawn: (node: string) => boolean): string | undefined {
  const path = pathTo(run, id)
  return path?.map(nodeOfStep).findLast((node): node is string => node !== undefined && isDrawn(node))
}

function pathTo(span: Span, id: string): readonly Span[] | undefined {
  if (span.id === id) return [span]
  for (const child of span.children) {
    const path = pathTo(child, id)
    if (path) return [span, ...path]
  }
  return undefined
}
