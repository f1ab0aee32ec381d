import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Store, UnavailableError } from '../../src/index.ts'
import { approval } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { dataOf, isTerminal, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

/** A shared store that the test makes unavailable and available again. */
function comesAndGoes() {
  const { store: inner, checkpointer } = sharedMemory()()
  let away = false
  let refused = 0
  const guarded =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (!away) return method(...args)
      refused++
      throw new UnavailableError('The connection to 10.0.0.7 was refused.', {
        written: 'no',
        retryAfterMs: 2_500,
      })
    }
  const store: Store = {
    ...inner,
    get: guarded(inner.get),
    list: guarded(inner.list),
    commit: guarded(inner.commit),
    read: guarded(inner.read),
    inspect: guarded(inner.inspect),
    assertFence: guarded(inner.assertFence),
    expired: guarded(inner.expired),
    trim: guarded(inner.trim),
    sweep: guarded(inner.sweep),
  }
  return {
    storage: { store, checkpointer },
    refused: () => refused,
    go: () => {
      away = true
    },
    comeBack: () => {
      away = false
    },
  }
}

const isAway = (error: unknown) => error instanceof UnavailableError

const REQUESTS: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  'run.start': ['POST', '/threads/t/commands', { id: 3, method: 'run.start', params: { input: {} } }],
  'run.start on a new thread': ['POST', '/threads/u/commands', { id: 3, method: 'run.start', params: {} }],
  'run.start with a key': [
    'POST',
    '/threads/t/commands',
    { id: 3, method: 'run.start', params: { input: {}, metadata: { command_id: 'k' } } },
  ],
  'input.respond': [
    'POST',
    '/threads/t/commands',
    { id: 3, method: 'input.respond', params: { interrupt_id: 'i', response: 1 } },
  ],
  'state.get': ['POST', '/threads/t/commands', { id: 3, method: 'state.get', params: { namespace: [] } }],
  state: ['GET', '/threads/t/state'],
  'state write': ['POST', '/threads/t/state', { values: { notes: ['x'] } }],
  history: ['POST', '/threads/t/history', {}],
  'thread list': ['GET', '/threads'],
  search: ['POST', '/threads/search', {}],
  thread: ['GET', '/threads/t'],
  'new thread': ['POST', '/threads', {}],
  patch: ['PATCH', '/threads/t', { metadata: { a: 1 } }],
  cancel: ['POST', '/threads/t/runs/r/cancel'],
  delete: ['DELETE', '/threads/t'],
  stream: ['POST', '/threads/t/stream/events', { channels: ['values'] }],
  'stream by the other path': ['POST', '/threads/t/stream', { channels: ['values'] }],
}

test('while the store is unavailable every request is answered 503 with Retry-After and without the cause', async () => {
  const place = comesAndGoes()
  const host = await serveAgents({ agents: { a: langgraph(approval()) }, ...place.storage })
  const thread = host.thread('t')
  await thread.start({ notes: ['q'] })
  const before = await thread.idle()
  place.go()
  for (const [name, [method, path, body]] of Object.entries(REQUESTS)) {
    const answer = await request(host.origin, method, path, body)
    expect([name, answer.status, answer.headers.get('retry-after')]).toEqual([name, 503, '3'])
    if (path.endsWith('/commands'))
      expect(answer.body).toMatchObject({ type: 'error', id: 3, error: 'unknown_error' })
    else expect(answer.body).toMatchObject({ error: 'unavailable', message: expect.any(String) })
    expect(JSON.stringify(answer.body)).not.toContain('10.0.0.7')
  }
  // The operator got one report for each.
  expect(host.errors.filter(isAway)).toHaveLength(Object.keys(REQUESTS).length)
  host.errors.length = 0
  place.comeBack()
  expect((await thread.get('/state')).body).toEqual(before)
  for (const [method, path, body] of Object.values(REQUESTS).filter(([, path]) => !path.includes('stream')))
    expect((await request(host.origin, method, path, body)).status).toBeLessThan(500)
})

test('open streams survive an unavailable store: no event is lost or doubled, and no stream is cut', async () => {
  const place = comesAndGoes()
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent }, ...place.storage })
  const thread = host.thread('t')
  await thread.start()
  const streams = [
    await thread.stream(),
    await thread.stream({ since: 0 }),
    await host.thread('later').stream(),
  ]
  actor.emit(custom(1))
  await streams[0]!.until((events) => dataOf(events, 'custom').length === 1)
  place.go()
  actor.emit(custom(2), custom(3))
  const refusals = place.refused()
  // By then each stream has failed to read at least once.
  await eventually(() => place.refused() >= refusals + 6)
  place.comeBack()
  actor.emit(custom(4))
  actor.finish()
  for (const stream of streams.slice(0, 2)) {
    const events = await stream.until((seen) => seen.some(isTerminal))
    expect(dataOf(events, 'custom').map(({ payload }) => payload)).toEqual([1, 2, 3, 4])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    expect(rootStates(events)).toEqual(['running', 'completed'])
  }
  // The stream that waits for its thread finds it.
  await host.thread('later').start()
  actor.finish()
  await streams[2]!.until((seen) => seen.some(isTerminal))
  host.errors.length = 0
})

test('the SDK recovers from an unavailable store, by its own retries where it got 503', async () => {
  const place = comesAndGoes()
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent }, ...place.storage })
  const client = new Client({ apiUrl: host.origin, apiKey: null })
  await client.threads.create({ threadId: 't' })
  place.go()
  // Since version 1.13 the SDK repeats only methods that are idempotent.
  const got = client.threads.get('t')
  const refusals = place.refused()
  await eventually(() => place.refused() !== refusals)
  place.comeBack()
  expect((await got).thread_id).toBe('t')
  host.errors.length = 0
})
