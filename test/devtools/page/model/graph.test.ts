import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import { fitted, pan, reveal, zoom } from '../../../../src/ops/devtools/page/data/use-camera.ts'
import {
  countMiddleware,
  drawingOf,
  joined,
  nodeWith,
  statesOf,
} from '../../../../src/ops/devtools/page/model/graph.ts'
import { type Area, layoutOf } from '../../../../src/ops/devtools/page/model/graph-layout.ts'
import type { AgentGraph } from '../../../../src/ops/devtools/wire.ts'
import { researchers, supervised } from '../../../fixtures/graphs.ts'
import { request } from '../../../kit/client.ts'
import { serveAgents } from '../../../kit/host.ts'
import { branching, guarded } from '../../graphs.ts'
import { readRun } from './read-run.ts'

const sum = { messages: [{ type: 'human', content: '2 + 3?' }] }

async function graphOf(graph: Parameters<typeof langgraph>[0]): Promise<AgentGraph> {
  const host = await serveAgents({ agents: { a: langgraph(graph) }, devtools: true })
  return (await request(host.origin, 'GET', '/devtools/api/agents/a/graph')).body.graph
}
const edgesOf = (graph: AgentGraph, isUnfolded: boolean) =>
  drawingOf(graph, isUnfolded).edges.map(
    ({ source, target, isConditional, label }) =>
      `${source} ${isConditional ? '?' : '>'} ${target}${label && ` (${label})`}`,
  )

describe('a drawing', () => {
  test('folds the middleware of each phase into one node, and shows node by node where it is asked to', async () => {
    const graph = await graphOf(guarded())
    expect(countMiddleware(graph)).toBe(6)
    const words = (isUnfolded: boolean) =>
      drawingOf(graph, isUnfolded).nodes.map(({ kind, label, note }) => `${kind} ${label}: ${note}`)
    expect(words(false)).toEqual([
      'start start: ',
      'middleware before agent: Limits',
      'middleware before model: 2 middlewares',
      'middleware after model: 2 middlewares',
      'middleware after agent: Limits',
      'step model_request: ',
      'step tools: add',
      'end end: ',
    ])
    expect(words(true)).toContain('middleware Redact: before model')
    expect(words(true).length).toBe(graph.nodes.length)
    expect(new Set(edgesOf(graph, false))).toEqual(
      new Set([
        '__start__ > Limits.before_agent',
        'Limits.before_agent > Limits.before_model',
        'Limits.before_model > model_request',
        'model_request > Limits.after_model',
        'Limits.after_model ? tools',
        'Limits.after_model ? model_request',
        'Limits.after_model ? Limits.after_agent',
        'tools > Limits.before_model',
        'Limits.after_agent > __end__',
      ]),
    )
    expect(edgesOf(graph, true).length).toBe(graph.edges.length)
  })

  test('has a subgraph as a box with its nodes, and the names of choices on dashed edges', async () => {
    const drawing = drawingOf(await graphOf(branching()), false)
    expect(drawing.boxes).toEqual([{ id: 'research', label: 'research', box: undefined }])
    expect(drawing.nodes.filter(({ box }) => box === 'research').map(({ label }) => label)).toEqual([
      'search',
      'read',
    ])
    expect(edgesOf(await graphOf(branching()), false)).toEqual(
      expect.arrayContaining(['route ? ask (needs a person)', 'route ? research:search', 'ask > write']),
    )
  })

  test('two edges between the same nodes are one, which is always taken if one of them is', () => {
    const node = (id: string) => ({ id, tools: [] })
    const edge = (conditional: boolean, label: string | null, target = 'b') => ({
      source: 'a',
      target,
      conditional,
      label,
    })
    const nodes = [node('a'), node('b')]
    const both = { nodes, edges: [edge(true, 'x'), edge(true, 'y')] }
    expect(edgesOf(both, false)).toEqual(['a ? b (x, y)'])
    expect(edgesOf({ nodes, edges: [edge(false, null), edge(true, 'y')] }, false)).toEqual(['a > b (y)'])
    expect(edgesOf({ nodes, edges: [edge(true, null, 'a'), edge(true, null, 'gone')] }, false)).toEqual([
      'a ? a',
    ])
  })
})

describe('a layout', () => {
  const overlap = (a: Area, b: Area) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
  const holds = (a: Area, b: Area) =>
    a.x <= b.x && a.y <= b.y && a.x + a.width >= b.x + b.width && a.y + a.height >= b.y + b.height

  test.each([
    ['an agent with middleware', guarded, true],
    ['the same folded', guarded, false],
    ['a deep agent', researchers, false],
    ['branches with a subgraph', branching, false],
  ] as const)(
    '%s: no two nodes overlap, all are within, and boxes hold what is in them',
    async (_, of, isUnfolded) => {
      const { nodes, boxes, edges, width, height } = layoutOf(drawingOf(await graphOf(of()), isUnfolded))
      const all = { x: 0, y: 0, width, height }
      for (const [at, { thing, area }] of nodes.entries()) {
        expect(holds(all, area)).toBe(true)
        for (const other of nodes.slice(at + 1)) expect(overlap(area, other.area)).toBe(false)
        for (const box of boxes) expect(overlap(box.area, area)).toBe(thing.box === box.thing.id)
        for (const box of boxes) expect(holds(box.area, area)).toBe(thing.box === box.thing.id)
      }
      for (const { edge, points, label } of edges) {
        expect(points.length).toBeGreaterThan(1)
        expect(label === undefined).toBe(edge.label === '')
      }
      const heightOf = (kind: string) => nodes.find(({ thing }) => thing.kind === kind)!.area.y
      expect(heightOf('start')).toBeLessThan(heightOf('end'))
    },
  )
})

describe('the states of nodes', () => {
  test('count the steps that are over, of subgraphs too', async () => {
    const { tree } = await readRun(langgraph(branching()), { path: 'research' })
    const states = statesOf(tree.runs[0]!)
    expect([...states].map(([node, { status, done }]) => `${node} ${status} ${done}`).sort()).toEqual([
      'research completed 1',
      'research:read completed 1',
      'research:search completed 1',
      'route completed 1',
      'write completed 1',
    ])
  })

  test('say which failed and which asks', async () => {
    const status = async (path: string, node: string) =>
      statesOf((await readRun(langgraph(branching()), { path })).tree.runs[0]!).get(node)?.status
    expect(await status('broken', 'fail')).toBe('failed')
    expect(await status('broken', 'write')).toBe(undefined)
    expect(await status('needs a person', 'ask')).toBe('interrupted')
    const states = statesOf((await readRun(langgraph(supervised()), sum)).tree.runs[0]!)
    expect(states.get('HumanInTheLoopMiddleware.after_model')?.status).toBe('interrupted')
    expect(states.get('model_request')?.status).toBe('completed')
  })

  test('of folded nodes are joined, and lead to the newest step', async () => {
    const run = (await readRun(langgraph(guarded()), sum)).tree.runs[0]!
    const states = statesOf(run)
    const both = joined(states, ['Limits.after_model', 'Redact.after_model'])
    expect([both?.status, both?.done]).toEqual(['completed', 4])
    expect(both?.newest).toBe(run.children.findLast(({ name }) => name.endsWith('.after_model')))
    expect(joined(states, ['unknown'])).toBe(undefined)
  })

  test('the node of a step is its own, or the closest one that is drawn', async () => {
    const run = (await readRun(langgraph(researchers()), sum)).tree.runs[0]!
    const drawn = ['model_request', 'tools']
    const find = (id: string) => nodeWith(run, id, (node) => drawn.includes(node))
    const tools = run.children.find(({ name }) => name === 'tools')!
    expect(find(tools.id)).toBe('tools')
    for (const call of tools.children) {
      expect(find(call.id)).toBe('tools')
      for (const inner of call.children) expect(find(inner.id)).toBe('tools')
    }
    expect(find(run.id)).toBe(undefined)
    expect(find('unknown')).toBe(undefined)
  })
})

describe('the camera', () => {
  const view = { width: 400, height: 300 }
  test('fits a drawing into the view, in the middle, and does not make it larger', () => {
    expect(fitted({ width: 200, height: 100 }, view)).toEqual({ scale: 1, x: 100, y: 100 })
    const { scale, x, y } = fitted({ width: 768, height: 200 }, view)
    expect([scale, x, y]).toEqual([0.5, 8, 100])
  })

  test('zooms around a point, within its limits', () => {
    const camera = { scale: 1, x: 10, y: 20 }
    const near = zoom(camera, 2, { x: 110, y: 120 })
    expect(near).toEqual({ scale: 2, x: -90, y: -80 })
    expect(zoom(near, 100, { x: 0, y: 0 }).scale).toBe(3)
    expect(zoom(near, 0.001, { x: 0, y: 0 }).scale).toBe(0.2)
  })

  test('moves as little as is needed to show an area', () => {
    const camera = { scale: 1, x: 0, y: 0 }
    const area = { x: 20, y: 20, width: 100, height: 40 }
    expect(reveal(camera, area, view)).toEqual(camera)
    expect(reveal(pan(camera, { x: -50, y: 0 }), area, view)).toEqual({ scale: 1, x: -4, y: 0 })
    expect(reveal(pan(camera, { x: 0, y: 400 }), area, view)).toEqual({ scale: 1, x: 0, y: 224 })
  })
})
