import { Graph, layout } from '@dagrejs/dagre'
import { type Box, type Drawing, type DrawnEdge, type DrawnNode, MAX_LETTERS } from './graph.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** A rectangle, from its upper left corner. */
export interface Area extends Point {
  readonly width: number
  readonly height: number
}

export interface Placed<Thing> {
  readonly thing: Thing
  readonly area: Area
}

export interface PlacedEdge {
  readonly edge: DrawnEdge
  readonly points: readonly Point[]
  /** The position of the label. Undefined without one. */
  readonly label: Area | undefined
}

/** The positions, in pixels at a scale of 1. */
export interface Layout {
  readonly width: number
  readonly height: number
  readonly nodes: readonly Placed<DrawnNode>[]
  /** Outer boxes first, so that inner ones are drawn above them. */
  readonly boxes: readonly Placed<Box>[]
  readonly edges: readonly PlacedEdge[]
}

/** Approximate widths of letters in the page's fonts. Nothing is measured, so this runs anywhere. */
const LETTER = 7.4
const SMALL_LETTER = 6.4
/** The space next to a node's label for the number of its steps. */
const PADDING = 58
const MARGIN = 16
/** The height of the title of a box. */
const TITLE = 12

/** Computes the layout of a drawing from top to bottom. */
export function layoutOf({ nodes, boxes, edges }: Drawing): Layout {
  const graph = new Graph({ compound: true, multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 34, ranksep: 38, edgesep: 18, marginx: MARGIN, marginy: MARGIN })
  for (const { id, box } of boxes) place(graph, `box ${id}`, {}, box)
  for (const node of nodes) place(graph, node.id, sizeOf(node), node.box)
  for (const [index, { source, target, label }] of edges.entries())
    graph.setEdge(source, target, labelSize(label), `${index}`)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  return {
    width,
    height,
    nodes: nodes.map((thing) => ({ thing, area: areaOf(graph.node(thing.id)) })),
    boxes: boxes.map((thing) => ({ thing, area: withTitle(areaOf(graph.node(`box ${thing.id}`))) })),
    edges: edges.map((edge, index) => {
      const placed = graph.edge(edge.source, edge.target, `${index}`)
      return { edge, points: placed.points, label: edge.label === '' ? undefined : areaOf(placed) }
    }),
  }
}

function place(graph: Graph, id: string, size: object, box: string | undefined): void {
  graph.setNode(id, size)
  if (box !== undefined) graph.setParent(id, `box ${box}`)
}

function sizeOf({ kind, label, note }: DrawnNode): { readonly width: number; readonly height: number } {
  if (kind === 'start' || kind === 'end') return { width: 64, height: 28 }
  const letters = (text: string) => Math.min(MAX_LETTERS, text.length)
  const text = Math.max(letters(label) * LETTER, letters(note) * SMALL_LETTER)
  return { width: Math.max(104, Math.ceil(text) + PADDING), height: note === '' ? 36 : 48 }
}

const labelSize = (label: string) =>
  label === ''
    ? {}
    : { width: Math.min(MAX_LETTERS, label.length) * SMALL_LETTER + 12, height: 18, labelpos: 'c' }

/** The library leaves no space for the title of a box. */
const withTitle = ({ y, height, ...area }: Area): Area => ({
  ...area,
  y: y - TITLE,
  height: height + TITLE,
})

/** The library returns centers. */
const areaOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Area>): Area => ({
  x: x - width / 2,
  y: y - height / 2,
  width,
  height,
})
