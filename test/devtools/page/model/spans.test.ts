import { expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../../../src/index.ts'
import { totalsIn } from '../../../../src/ops/devtools/page/model/fold-middleware.ts'
import type { WireEvent } from '../../../../src/ops/devtools/page/model/log.ts'
import { createSpanTree, rowsOf } from '../../../../src/ops/devtools/page/model/spans.ts'
import { approval, researchers } from '../../../fixtures/graphs.ts'
import { trips } from '../../trips.ts'
import { readRun } from './read-run.ts'

const treeOf = async (...given: Parameters<typeof readRun>) => (await readRun(...given)).tree

const shape = (tree: ReturnType<typeof createSpanTree>) =>
  rowsOf(tree.runs.at(-1)!).map(
    ({ span, depth }) => `${'  '.repeat(depth)}${span.kind} ${span.name} ${span.status}`,
  )

test('a deep agent is a run, its steps, and its subagent with its own steps and tools', async () => {
  const tree = await treeOf(langgraph(researchers()), { messages: [{ type: 'human', content: 'x?' }] })
  const lines = shape(tree).filter((line) => !line.includes('iddleware'))
  expect(lines).toEqual([
    'run a completed',
    '  step model_request completed',
    '    model model completed',
    '  subagent researcher completed',
    '    step model_request completed',
    '      model model completed',
    '    step tools completed',
    '      tool add completed',
    '    step model_request completed',
    '      model model completed',
    '  step model_request completed',
    '    model model completed',
  ])
  for (const { span } of rowsOf(tree.runs[0]!)) expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt)
  expect(tree.runs[0]!.firstTokenAt).toBeGreaterThanOrEqual(tree.runs[0]!.startedAt)
})

test('a run that asks is interrupted, and so is the step that asks', async () => {
  const tree = await treeOf(langgraph(approval()), { notes: [] })
  expect(shape(tree)).toEqual(['run a interrupted', '  step ask interrupted'])
})

test('a step has its calls of models with their tokens, its update and its error', async () => {
  const tree = await treeOf(langgraph(trips()), { messages: [{ type: 'human', content: 'Atlantis' }] })
  expect(shape(tree)).toEqual([
    'run a failed',
    '  step plan completed',
    '    model atlas-large completed',
    '  subagent research completed',
    '    step model_request completed',
    '      model atlas-small-2026-01-31 completed',
    '    step tools completed',
    '      tool look_up completed',
    '    step model_request completed',
    '      model atlas-small-2026-01-31 completed',
    '  step check failed',
  ])
  const [run, plan, model] = rowsOf(tree.runs[0]!).map(({ span }) => span)
  expect(run!.error).toContain('no way to Atlantis')
  expect(plan!.calls).toEqual([])
  expect(model!.calls).toMatchObject([
    { model: 'atlas-large', usage: { inputTokens: 1_200, outputDetails: { reasoning: 120 } } },
  ])
  // The update of the step has the message whole.
  expect(model!.message?.seq).toBe(plan!.outputSeq)
  expect(totalsIn(run!, {})).toMatchObject({
    calls: 3,
    input: 3_600,
    output: 900,
    cacheRead: 2_000,
    priced: 0,
  })
})

test('tokens of a model that sends no events are those of its step, and are counted once', () => {
  const tree = createSpanTree()
  const event = (seq: number, method: string, data: unknown) =>
    tree.add({
      type: 'event',
      seq,
      method,
      params: { namespace: [], timestamp: seq, data },
    } as unknown as WireEvent)
  const usage_metadata = { input_tokens: 5, output_tokens: 1, total_tokens: 6, total_cost: 0.25 }
  const old = { id: 'old', type: 'ai', content: 'before', usage_metadata }
  const fresh = { id: 'new', type: 'ai', content: 'now', usage_metadata, response_metadata: { model: 'm' } }
  event(1, 'lifecycle', { event: 'running', run_id: 'r' })
  event(2, 'tasks', { id: 'a', name: 'quiet', input: { messages: [old] } })
  event(3, 'tasks', { id: 'a', name: 'quiet', result: { messages: [old, fresh] }, interrupts: [] })
  event(4, 'tasks', { id: 'b', name: 'around', input: { messages: [old] } })
  event(5, 'tasks', { id: 'b', name: 'around', result: { messages: [old, fresh] }, interrupts: [] })
  const [quiet, around] = tree.runs[0]!.children
  expect(quiet!.calls).toMatchObject([{ model: 'm', usage: { inputTokens: 5, totalCost: 0.25 } }])
  expect(around!.calls).toEqual([])
  expect(totalsIn(tree.runs[0]!, {})).toMatchObject({ calls: 1, cost: 0.25, priced: 1 })
})

test('a plain function shows its tools and subagents', async () => {
  const agent = defineAgent({
    async run({ tool, subagent }) {
      await tool('look', {}, async () => 'seen')
      await subagent('helper', 'Dig', async (inner) => {
        await inner.tool('dig', {}, async () => 'dug')
      })
    },
  })
  expect(shape(await treeOf(agent, {}))).toEqual([
    'run a completed',
    '  step agent completed',
    '  tool look completed',
    '  subagent helper completed',
    '    tool dig completed',
  ])
})

test('events whose beginning is gone make no run, and a second run is a tree of its own', () => {
  const tree = createSpanTree()
  const event = (seq: number, method: string, data: unknown, namespace: string[] = []) =>
    ({ type: 'event', seq, method, params: { namespace, timestamp: seq, data } }) as WireEvent
  tree.add(event(1, 'tasks', { id: 'old', name: 'old', input: {} }))
  expect(tree.runs).toEqual([])
  for (const [at, id] of [
    [2, 'one'],
    [10, 'two'],
  ] as const) {
    tree.add(event(at, 'lifecycle', { event: 'running', run_id: id, graph_name: 'g' }))
    tree.add(event(at + 1, 'tasks', { id: 'same', name: 'step', input: {} }))
    tree.add(event(at + 4, 'lifecycle', { event: 'failed', error: 'x' }))
  }
  expect(tree.runs.map(({ id, status, children }) => [id, status, children.length])).toEqual([
    ['one', 'failed', 1],
    ['two', 'failed', 1],
  ])
  // What was in progress when its run ended has ended with it.
  expect(tree.runs[0]!.children[0]).toMatchObject({ status: 'interrupted', endedAt: 6 })
})
