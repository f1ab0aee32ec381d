import { Client } from '@langchain/langgraph-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent, memoryCheckpointer, memoryStore } from '../../../src/index.ts'
import { approval } from '../../fixtures/graphs.ts'
import { request } from '../../kit/client.ts'
import { serveAgents } from '../../kit/host.ts'

interface Part {
  readonly id?: string
  readonly event: string
  readonly data: { readonly [key: string]: unknown }
}

const AGENTS = {
  ask: langgraph(approval()),
  fragile: defineAgent({
    run: async ({ input }) => {
      if ((input as { broken?: true }).broken) throw new Error('broken')
    },
  }),
}

async function serve() {
  const host = await serveAgents({ agents: AGENTS })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { ...host, client }
}

type JoinOptions = Parameters<Client['threads']['joinStream']>[1]

/**
 * Joins a thread, through a server of its own if one is given. `take` gives all parts up to the one that is wanted. The stream is
 * left with the test.
 */
async function join(
  origin: string,
  threadId: string,
  options: JoinOptions = {},
  fetchFrom: typeof fetch = fetch,
) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let joined = () => {}
  const isJoined = new Promise<void>((resolve) => (joined = resolve))
  const fetchOf: typeof fetch = async (input, init) => {
    const response = await fetchFrom(input, init)
    joined()
    return response
  }
  const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { fetch: fetchOf } })
  const stream = client.threads.joinStream(threadId, { ...options, signal: stop.signal })
  let next: ReturnType<typeof stream.next> | undefined = stream.next()
  next.catch(() => {}) // It is left with the test.
  await isJoined
  return {
    async take(isLast: (part: Part) => boolean): Promise<Part[]> {
      const parts: Part[] = []
      for (;;) {
        const { value, done } = await (next ?? stream.next())
        next = undefined
        if (done) throw new Error(`The stream has ended after ${JSON.stringify(parts)}`)
        parts.push(value as Part)
        if (isLast(value as Part)) return parts
      }
    },
  }
}

const isDone =
  (runId: string) =>
  ({ event, data }: Part): boolean =>
    event === 'metadata' && data.status === 'run_done' && data.run_id === runId

const namesOf = (parts: readonly Part[]) => parts.map(({ event }) => event)

test('a thread is streamed run after run, and again from any id with the same parts', async () => {
  const { origin, client } = await serve()
  const { thread_id } = await client.threads.create()
  const given = { input: { notes: ['a'] }, streamMode: ['values', 'updates'] as ('values' | 'updates')[] }
  const first = await client.runs.create(thread_id, 'ask', given)
  await client.runs.join(thread_id, first.run_id)
  const live = await join(origin, thread_id)
  const answer = { command: { resume: 'yes' }, streamMode: 'updates' as const }
  const second = await client.runs.create(thread_id, 'ask', answer)
  const seen = await live.take(isDone(second.run_id))
  expect(seen[0]).toMatchObject({ event: 'metadata', data: { run_id: second.run_id, attempt: 1 } })
  expect(new Set(namesOf(seen))).toEqual(new Set(['metadata', 'updates']))

  const all = await (await join(origin, thread_id, { lastEventId: '-' })).take(isDone(second.run_id))
  const runs = await Promise.all(
    [first, second].map(async ({ run_id }) => {
      const parts: Part[] = []
      for await (const part of client.runs.joinStream(thread_id, run_id, { lastEventId: '-1' }))
        parts.push(part as Part)
      return [...parts, { event: 'metadata', data: { status: 'run_done', run_id } }]
    }),
  )
  const bare = (parts: readonly Part[]) => parts.map(({ event, data }) => ({ event, data }))
  expect(bare(all)).toEqual(bare(runs.flat()))
  expect(all.slice(-seen.length)).toEqual(seen)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  for (const [index, { id }] of all.slice(0, -1).entries()) {
    const rest = await (await join(origin, thread_id, { lastEventId: id! })).take(isDone(second.run_id))
    expect(rest).toEqual(all.slice(index + 1))
  }
})

test('lifecycle has only the begin and the end of runs, with the error of one that has failed', async () => {
  const { origin, client } = await serve()
  const { thread_id } = await client.threads.create()
  const whole = await client.runs.create(thread_id, 'fragile', { input: {} })
  await client.runs.join(thread_id, whole.run_id)
  const broken = await client.runs.create(thread_id, 'fragile', { input: { broken: true } })
  const options = { lastEventId: '-', streamMode: 'lifecycle' as const }
  const parts = await (await join(origin, thread_id, options)).take(isDone(broken.run_id))
  expect(parts.map(({ event, data }) => [event, data])).toEqual([
    ['metadata', { run_id: whole.run_id, attempt: 1 }],
    ['metadata', { status: 'run_done', run_id: whole.run_id }],
    ['metadata', { run_id: broken.run_id, attempt: 1 }],
    ['error', expect.objectContaining({ error: 'Error' })],
    ['metadata', { status: 'run_done', run_id: broken.run_id }],
  ])
})

test('the run in progress is streamed from its start, on another instance too', async () => {
  const storage = { store: memoryStore(), checkpointer: memoryCheckpointer() }
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const slow = defineAgent({
    run: async ({ custom }) => {
      await custom('one', 1)
      await gate
      await custom('two', 2)
    },
  })
  const host = await serveAgents({ agents: { slow }, ...storage })
  const other = createAgentServer({ agents: { slow }, ...storage, onError() {} })
  onTestFinished(() => other.close())
  const client = new Client({ apiUrl: host.origin, apiKey: null })
  const elsewhere: typeof fetch = async (input, init) => other.fetch(new Request(input, init))
  const { thread_id } = await client.threads.create()
  const { run_id } = await client.runs.create(thread_id, 'slow', { input: {}, streamMode: ['custom'] })
  const streams = await Promise.all([fetch, elsewhere].map((each) => join(host.origin, thread_id, {}, each)))
  const begun = await Promise.all(streams.map((stream) => stream.take(({ event }) => event === 'custom')))
  expect(namesOf(begun[0]!)).toEqual(['metadata', 'custom'])
  expect(begun[1]).toEqual(begun[0])
  release()
  const ended = await Promise.all(streams.map((stream) => stream.take(isDone(run_id))))
  expect(namesOf(ended[0]!)).toEqual(['custom', 'metadata'])
  expect(ended[1]).toEqual(ended[0])
})

test('the thread of another owner is not found', async () => {
  const { origin } = await serveAgents({
    agents: AGENTS,
    authenticate: (asked) => ({ id: asked.headers.get('x-user') ?? 'nobody' }),
  })
  const [ann, bob] = [{ 'x-user': 'ann' }, { 'x-user': 'bob' }]
  expect((await request(origin, 'POST', '/threads', { thread_id: 'mine' }, ann)).status).toBe(200)
  expect((await request(origin, 'GET', '/threads/mine/stream', undefined, bob)).status).toBe(404)
  const stop = new AbortController()
  const own = await fetch(`${origin}/threads/mine/stream`, { headers: ann, signal: stop.signal })
  expect(own.status).toBe(200)
  stop.abort()
})

test('a request is authenticated and authorized once, although a socket has the same path', async () => {
  const asked: string[] = []
  const { origin } = await serveAgents({
    agents: AGENTS,
    authenticate() {
      asked.push('authenticate')
      return { id: 'ann' }
    },
    authorize(_, action) {
      asked.push(action)
      return true
    },
  })
  expect((await request(origin, 'GET', '/threads/none/stream')).status).toBe(404)
  expect(asked.splice(0)).toEqual(['authenticate', 'threads:stream'])
  expect((await request(origin, 'GET', '/threads/none/stream/events')).status).toBe(426)
  expect(asked).toEqual([])
})

test('unknown threads, modes and ids are refused, and a socket has the same path', async () => {
  const { origin, client } = await serve()
  const { thread_id } = await client.threads.create()
  const status = async (path: string, headers = {}) =>
    (await request(origin, 'GET', path, undefined, headers)).status
  expect(await status('/threads/none/stream')).toBe(404)
  expect(await status(`/threads/${thread_id}/stream?stream_mode=values`)).toBe(400)
  for (const id of ['x', '1', '-2'])
    expect(await status(`/threads/${thread_id}/stream`, { 'last-event-id': id })).toBe(400)
  expect(await status(`/threads/${thread_id}/stream/events`)).toBe(426)
})
