import { expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import type { WireEvent } from '../../../../src/devtools/page/model/log.ts'
import { createSpanTree, rowsOf } from '../../../../src/devtools/page/model/spans.ts'
import { defineAgent } from '../../../../src/index.ts'
import { approval, researchers } from '../../../fixtures/graphs.ts'
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
    '  subagent researcher completed',
    '    step model_request completed',
    '    tool add completed',
    '    step model_request completed',
    '  step model_request completed',
  ])
  for (const { span } of rowsOf(tree.runs[0]!)) expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt)
  expect(tree.runs[0]!.firstTokenAt).toBeGreaterThanOrEqual(tree.runs[0]!.startedAt)
})

test('a run that asks is interrupted, and so is the step that asks', async () => {
  const tree = await treeOf(langgraph(approval()), { notes: [] })
  expect(shape(tree)).toEqual(['run a interrupted', '  step ask interrupted'])
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
