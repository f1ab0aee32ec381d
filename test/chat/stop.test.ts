import { expect, test } from 'vitest'
import { deepAgent } from '../../examples/chat/server/agents/graphs.ts'
import { scriptedModels } from '../../examples/chat/server/models/models.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { node } from '../conformance/targets/node.ts'
import type { Json } from '../kit/events.ts'
import { untilStore } from '../kit/stream-store.ts'
import { type Controller, human, setStage } from '../threads/sdk/stage.ts'

const models = scriptedModels(5)

const messages = (page: Controller): Json[] => page.rootStore.getSnapshot().messages
const texts = (page: Controller): string[] => messages(page).map(({ text }) => text)

test('what the deep agent had written when it was stopped stays, marked, for every page and after a reload', async () => {
  const stage = await setStage(node, { agent: langgraph(deepAgent(models)) })
  const page = stage.page('agent')
  const submitted = page.submit(human('Tell me a story'))
  const { threadId } = await untilStore(page.rootStore, () => (texts(page)[1] ?? '').split(' ').length > 20)
  const other = stage.page('agent', { threadId })
  await untilStore(other.rootStore, () => (texts(other)[1] ?? '').split(' ').length > 25)
  await page.stop()
  await submitted
  await stage.idle(threadId!)

  const isStopped = (open: Controller) =>
    messages(open).at(-1)?.response_metadata.finish_reason === 'cancelled'
  await untilStore(page.rootStore, ({ isLoading }) => !isLoading && isStopped(page))
  const [asked, half] = texts(page)
  expect(asked).toBe('Tell me a story')
  expect(half).toMatch(/^Once there was a stream/)
  expect(half).not.toContain('supper')
  await untilStore(
    other.rootStore,
    ({ isLoading }) => !isLoading && texts(other)[1] === half && isStopped(other),
  )
  const reloaded = stage.page('agent', { threadId })
  await untilStore(reloaded.rootStore, () => isStopped(reloaded))
  for (const open of [page, other, reloaded]) expect(texts(open)).toEqual([asked, half])
  expect(new Set([page, other, reloaded].map((open) => messages(open)[1].id)).size).toBe(1)

  await reloaded.submit(human('What is 6 * 7?'))
  for (const open of [page, other, reloaded]) {
    await untilStore(open.rootStore, ({ isLoading }) => !isLoading && texts(open).at(-1) === '6 * 7 = 42.')
    expect(texts(open).slice(0, 3)).toEqual([asked, half, 'What is 6 * 7?'])
    expect(new Set(messages(open).map(({ id }) => id)).size).toBe(messages(open).length)
  }
  expect((await stage.client.threads.getState(threadId!)).next).toEqual([])
})

test('a stop in the middle of the subagents leaves a thread that takes a next turn', async () => {
  const stage = await setStage(node, { agent: langgraph(deepAgent(models)) })
  const page = stage.page('agent')
  const submitted = page.submit(human('What is 12 * (3 + 4), and what is a checkpoint?'))
  const { threadId } = await untilStore(page.rootStore, ({ toolCalls }) => toolCalls.length === 2)
  await page.stop()
  await submitted
  await stage.idle(threadId!)
  await page.submit(human('What is 6 * 7?'))
  await stage.idle(threadId!)
  const dropped = expect.stringContaining('was cancelled')
  const expected = [
    'What is 12 * (3 + 4), and what is a checkpoint?',
    'Let me ask the researcher and math-whiz.',
    dropped,
    dropped,
    'What is 6 * 7?',
    'Let me ask the math-whiz.',
    '6 * 7 = 42.',
    '6 * 7 = 42.',
  ]
  const reloaded = stage.page('agent', { threadId })
  for (const open of [page, reloaded]) {
    await untilStore(open.rootStore, ({ isLoading }) => !isLoading && texts(open).length >= expected.length)
    expect(texts(open)).toEqual(expected)
  }
})
