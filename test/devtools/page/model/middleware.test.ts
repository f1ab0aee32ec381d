import { expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import { foldMiddleware } from '../../../../src/ops/devtools/page/model/fold-middleware.ts'
import { matches } from '../../../../src/ops/devtools/page/model/log.ts'
import { middlewareOf } from '../../../../src/ops/devtools/page/model/middleware.ts'
import { rowsOf, rowWith } from '../../../../src/ops/devtools/page/model/spans.ts'
import { researchers, supervised } from '../../../fixtures/graphs.ts'
import { guarded } from '../../graphs.ts'
import { readRun } from './read-run.ts'

const sum = { messages: [{ type: 'human', content: '2 + 3?' }] }
const STEPS = ['a', 'model_request', 'model', 'tools', 'add', 'model_request', 'model']
const names = (rows: ReturnType<typeof rowsOf>) => rows.map(({ span }) => span.name)

test('a name tells the middleware and the phase of its node', () => {
  expect(middlewareOf('a.b.before_agent')).toEqual({ name: 'a.b', phase: 'before_agent' })
  for (const name of ['model_request', 'before_model', 'Limits.before_tools'])
    expect(middlewareOf(name)).toBe(undefined)
})

test('a run without its middleware has the steps of the model and of the tools', async () => {
  const { tree, log } = await readRun(langgraph(guarded()), sum)
  const run = tree.runs[0]!
  const { span, count } = foldMiddleware(run)
  expect(names(rowsOf(span))).toEqual(STEPS)
  // Two rounds of four nodes, and two around the agent.
  expect(count).toBe(10)
  expect(names(rowsOf(run)).length).toBe(count + STEPS.length)
  const about = { channels: new Set<string>(), namespace: '' }
  const shown = log.entries.filter((entry) => matches({ ...about, hidesMiddleware: true }, entry))
  expect(shown.some(({ kind }) => kind.includes('before_model'))).toBe(false)
  expect(shown.some(({ kind }) => kind.includes('model_request'))).toBe(true)
  // Each step begins and is done.
  expect(log.entries.length - shown.length).toBeGreaterThanOrEqual(2 * count)
})

test('a step of middleware that asks, or that is selected, stays in sight', async () => {
  const { tree, log } = await readRun(langgraph(supervised()), sum)
  const run = tree.runs[0]!
  expect(names(rowsOf(foldMiddleware(run).span))).toEqual([
    'a',
    'model_request',
    'model',
    'HumanInTheLoopMiddleware.after_model',
  ])
  const asks = log.entries.filter((entry) => entry.channel === 'input')
  expect(asks.map(({ isMiddleware }) => isMiddleware)).toEqual([false])

  const guardedRun = (await readRun(langgraph(guarded()), sum)).tree.runs[0]!
  const { id } = guardedRun.children.find(({ name }) => name === 'Redact.after_model')!
  expect(names(rowsOf(foldMiddleware(guardedRun, id).span))).toEqual([
    'a',
    'model_request',
    'model',
    'Redact.after_model',
    'tools',
    'add',
    'model_request',
    'model',
  ])
})

test('the row of a step that was merged with its call has the id of both', async () => {
  const run = (await readRun(langgraph(researchers()), sum)).tree.runs[0]!
  const rows = rowsOf(run)
  const step = run.children.find(({ children }) => children.some(({ id }) => id === 'call_task'))!
  expect(rowWith(rows, step.id)).toBe(rowWith(rows, 'call_task'))
  expect(rowWith(rows, step.id)?.span.name).toBe('researcher')
  expect(rowWith(rows, 'unknown')).toBe(undefined)
})
