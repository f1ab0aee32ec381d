import { expect, test } from 'vitest'
import { internalsOf, subscribe } from '../../src/engine/index.ts'
import { engineOf, readUntil, start } from '../kit/engine.ts'
import { isTerminal } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'

test('a run hands its task what the client asked of a graph, and its record keeps it after the end', async () => {
  const { agent, tasks, finish } = puppet()
  const engine = engineOf({ a: agent })
  const classic = { modes: ['messages-tuple'], subgraphs: true }
  const config = { configurable: {}, interruptBefore: ['tool'], durability: 'exit' } as const
  const { runId } = await start(engine, 't', {}, { classic, config })
  finish()
  await engine.wait({ threadId: 't', runId })
  expect(tasks[0]).toMatchObject({ classic, config })
  const record = await internalsOf(engine).store.get('t', 'runs', runId)
  expect(record?.value).toMatchObject({ classic, status: 'success' })
})

test('chunks are in the log for code on the server, and no channel has them', async () => {
  const { agent, emit, finish } = puppet()
  const engine = engineOf({ a: agent })
  const { runId } = await start(engine, 't')
  emit({ method: 'chunks', namespace: [], data: { mode: 'messages', data: ['x'] } }, custom('seen'))
  finish()
  const subscription = subscribe(engine, {
    threadId: 't',
    filter: { channels: ['chunks', 'custom', 'lifecycle'] },
  })
  const seen = await readUntil(subscription, (events) => events.some(isTerminal))
  subscription.cancel()
  expect(seen.map(({ method }) => method)).toEqual(['lifecycle', 'custom', 'lifecycle'])
  const logged: string[] = []
  for await (const event of engine.events({ threadId: 't', runId }))
    if (event.type === 'event') logged.push(event.method)
  expect(logged).toEqual(['lifecycle', 'chunks', 'custom', 'lifecycle'])
})

class TeapotError extends Error {}

test.each([
  [
    'told',
    (error: unknown) => (error as Error).message,
    { error: 'short and stout', errorName: 'TeapotError' },
  ],
  ['hidden', undefined, { error: expect.stringContaining('Error id'), errorName: 'Error' }],
])('the class of an error is told where its text is: %s', async (_, errorMessage, expected) => {
  const { agent, fail } = puppet()
  const engine = engineOf({ a: agent }, { errorMessage, onError: () => {} })
  const { runId } = await start(engine, 't')
  fail(new TeapotError('short and stout'))
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error', ...expected })
  const events = []
  for await (const event of engine.events({ threadId: 't', runId })) events.push(event)
  const { error, errorName } = expected
  expect(events.at(-1)).toMatchObject({ data: { event: 'failed', error, error_name: errorName } })
})
