import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../../src/index.ts'
import { approval } from '../../fixtures/graphs.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { eventually, gate } from '../../kit/wait.ts'

const slow = defineAgent({
  run: async ({ signal }) => {
    await sleep(60_000, undefined, { signal })
    return {}
  },
})

async function serve(agents: Record<string, Agent> = {}) {
  const host = await serveAgents({ agents: { ask: langgraph(approval()), slow, ...agents } })
  return {
    ...host,
    client: new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } }),
  }
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

test('a run is streamed, and its stream is joined again with the same frames and ids', async () => {
  const { client } = await serve()
  const { thread_id } = await client.threads.create()
  let runId = ''
  const given = {
    input: { notes: ['a'] },
    streamMode: ['values', 'updates'] as ('values' | 'updates')[],
    streamResumable: true,
  }
  const frames = await all(
    client.runs.stream(thread_id, 'ask', { ...given, onRunCreated: ({ run_id }) => void (runId = run_id) }),
  )
  expect(frames[0]).toMatchObject({ event: 'metadata', data: { run_id: runId, attempt: 1 } })
  expect(new Set(frames.map(({ event }) => event as string))).toEqual(
    new Set(['metadata', 'values', 'updates']),
  )
  expect(await all(client.runs.joinStream(thread_id, runId, { lastEventId: '-1' }))).toEqual(frames)
  const second = frames[1] as { id?: string }
  expect(await all(client.runs.joinStream(thread_id, runId, { lastEventId: second.id! }))).toEqual(
    frames.slice(2),
  )
})

test('a run without a thread is streamed without ids, and leaves nothing behind', async () => {
  const { client } = await serve()
  const frames = await all(client.runs.stream(null, 'ask', { input: { notes: [] } }))
  expect(frames.length).toBeGreaterThan(1)
  expect(frames.every((frame) => (frame as { id?: string }).id === undefined)).toBe(true)
  await eventually(async () => (await client.threads.search()).length === 0)
})

test('a run is cancelled when its reader goes, where that was asked for', async () => {
  const { client } = await serve()
  const { thread_id } = await client.threads.create()
  const status = async () => (await client.runs.list(thread_id))[0]?.status
  const stop = new AbortController()
  const given = { input: {}, onDisconnect: 'cancel' as const, signal: stop.signal }
  const streamed = all(client.runs.stream(thread_id, 'slow', given))
  await eventually(async () => (await status()) === 'running')
  stop.abort()
  await streamed.catch(() => {})
  await eventually(async () => (await status()) === 'interrupted')
  const { run_id } = await client.runs.create(thread_id, 'slow', { input: {} })
  const leave = new AbortController()
  const asked = { cancelOnDisconnect: true, signal: leave.signal }
  const frames: unknown[] = []
  const joined = (async () => {
    for await (const frame of client.runs.joinStream(thread_id, run_id, asked)) frames.push(frame)
  })()
  await eventually(() => frames.length > 0)
  leave.abort()
  await joined.catch(() => {})
  await eventually(async () => (await status()) === 'interrupted')
})

test('an unknown assistant is refused before any frame', async () => {
  const { client } = await serve()
  const { thread_id } = await client.threads.create()
  await expect(all(client.runs.stream(thread_id, 'x', {}))).rejects.toThrow('No assistant found for')
})

test("the stream of an unknown run is one error, as on LangGraph's servers", async () => {
  const { client } = await serve()
  const { thread_id } = await client.threads.create()
  for (const thread of [thread_id, 'none', null]) {
    const frames = await all(client.runs.joinStream(thread, 'x'))
    expect(frames).toMatchObject([{ event: 'error', data: { message: '404: Run not found' } }])
  }
})

test('a run without a thread is shown, joined, cancelled and deleted by its own id', async () => {
  const { client, origin } = await serve()
  const started = async () =>
    (await request(origin, 'POST', '/runs', { assistant_id: 'slow', input: {} })).body.run_id as string
  const one = await started()
  const shown = await request(origin, 'GET', `/runs/${one}`)
  expect(shown.body).toMatchObject({ run_id: one, thread_id: one, status: 'running' })
  const joined = all(client.runs.joinStream(null, one))
  expect((await request(origin, 'POST', `/runs/${one}/cancel?wait=1`)).status).toBe(204)
  expect((await joined.catch(() => []))[0]).toMatchObject({ event: 'metadata', data: { run_id: one } })

  const two = await started()
  const ended = request(origin, 'GET', `/runs/${two}/join`)
  expect((await request(origin, 'DELETE', `/runs/${two}`)).status).toBe(204)
  expect((await ended).status).toBeLessThan(500)
  await eventually(async () => (await client.threads.search()).length === 0)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/join'],
    ['POST', '/cancel'],
  ] as const)
    expect([path, (await request(origin, method, `/runs/${two}${path}`)).status]).toEqual([path, 404])
})

test('whoever joins a run without a thread sees it to its end', async () => {
  const joined = gate()
  const held = defineAgent({
    run: async ({ input }) => {
      await joined.opened
      return input as Json
    },
  })
  const { client, origin } = await serve({ held })
  const { body } = await request(origin, 'POST', '/runs', { assistant_id: 'held', input: { round: 1 } })
  const frames = []
  for await (const frame of client.runs.joinStream(null, body.run_id)) {
    frames.push(frame)
    joined.open()
  }
  expect(frames.at(-1)).toMatchObject({ event: 'values', data: { round: 1 } })
  await eventually(async () => (await client.threads.search()).length === 0)
})

test('an agent from a function gives the messages that it writes, and its question', async () => {
  const asking = defineAgent({
    async run({ message, interrupt }) {
      const answer = message()
      for (const word of ['Hello', ' there']) await answer.text(word)
      await answer.end()
      await interrupt('Go on?')
    },
  })
  const { origin } = await serveAgents({ agents: { asking } })
  const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  const { thread_id } = await client.threads.create()
  const input = { messages: [{ role: 'user', content: 'Hi' }] }
  const streamMode: ('values' | 'messages-tuple')[] = ['values', 'messages-tuple']
  const frames = await all(client.runs.stream(thread_id, 'asking', { input, streamMode }))
  const texts = frames.flatMap(({ event, data }) => (event === 'messages' ? [data[0].content] : []))
  expect(texts.join('')).toBe('Hello there')
  const { data } = frames.at(-1) as { data: unknown }
  expect(data).toEqual({ __interrupt__: [{ id: expect.any(String), value: 'Go on?' }] })
})
