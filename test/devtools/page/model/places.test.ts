import { expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../../../src/index.ts'
import { createPlaces } from '../../../../src/ops/devtools/page/model/places.ts'
import { fanOut } from '../../../fixtures/graphs.ts'
import { trips } from '../../trips.ts'
import { readRun } from './read-run.ts'

const go = (place: string) => ({ messages: [{ type: 'human', content: place }] })

/** Each event with the name of the step that it is found in. */
async function placesOf(...given: Parameters<typeof readRun>) {
  const { log, tree } = await readRun(...given)
  const places = createPlaces(tree.runs)
  return log.entries.map((entry) => {
    const { span } = places.of(entry)!
    return { entry, line: `${entry.channel} ${entry.kind}`.trim(), step: span.name }
  })
}

test('every event of a run has the step that it is of', async () => {
  const places = await placesOf(langgraph(trips()), go('Vienna'))
  const stepsOf = (line: string) => places.filter((one) => one.line === line).map(({ step }) => step)
  expect(stepsOf('tasks plan begins')).toEqual(['plan'])
  expect(stepsOf('updates plan')).toEqual(['plan'])
  expect(stepsOf('updates model_request')).toEqual(['model_request', 'model_request'])
  expect(stepsOf('tools tool-started look_up')).toEqual(['look_up'])
  expect(stepsOf('messages message-finish')).toEqual([
    'atlas-large',
    'atlas-small-2026-01-31',
    'atlas-small-2026-01-31',
    'unpriced-1',
  ])
  const values = places.filter(({ entry }) => entry.channel === 'values' && entry.namespace.length > 0)
  expect(new Set(values.map(({ step }) => step))).toEqual(new Set(['research']))
  expect(places.at(-1)!.step).toBe('a')
})

test('a question is of the step that asks', async () => {
  const places = await placesOf(langgraph(trips()), go('Mars'))
  expect(places.filter(({ entry }) => entry.channel === 'input').map(({ step }) => step)).toEqual(['check'])
})

test('the update of one of two tasks of a node is that of its own task', async () => {
  const { log, tree } = await readRun(langgraph(fanOut(['a', 'b'])), { notes: [] })
  const places = createPlaces(tree.runs)
  const found = log.entries
    .filter(({ method }) => method === 'updates')
    .map((entry) => places.of(entry)!.span)
  const spread = found.filter(({ name }) => name === 'work')
  expect(new Set(spread.map(({ id }) => id)).size).toBe(2)
})

test('the messages of a function are of its call of a model', async () => {
  const agent = defineAgent({
    async run({ message }) {
      const writer = message()
      await writer.text('one ')
      await writer.text('two')
      await writer.usage({ inputTokens: 3, outputTokens: 2, totalTokens: 5 })
      await writer.end({ metadata: { model_name: 'own-1' } })
    },
  })
  const places = await placesOf(agent, {})
  const steps = places.filter(({ entry }) => entry.method === 'messages').map(({ step }) => step)
  expect(new Set(steps)).toEqual(new Set(['own-1']))
})
