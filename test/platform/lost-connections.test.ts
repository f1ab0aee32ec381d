import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { request } from '../kit/client.ts'
import { serveAgents } from '../kit/host.ts'

const COUNT = 40

const ticking = defineAgent({
  async run({ custom, signal }) {
    for (let n = 0; n < COUNT; n++) {
      custom({ n })
      await sleep(20, undefined, { signal })
    }
    return { ticked: COUNT }
  },
})

async function serve() {
  const host = await serveAgents({ agents: { ticking } })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  const { thread_id } = await client.threads.create()
  return { ...host, client, threadId: thread_id }
}

interface Part {
  readonly id?: string
  readonly event: string
  readonly data: { readonly n?: number; readonly payload?: { readonly n: number }; readonly status?: string }
}

/** Reads a stream, and cuts its connection after a few parts. */
async function readBroken(stream: AsyncIterable<unknown>, cut: () => void, isLast = (_: Part) => false) {
  const parts: Part[] = []
  for await (const part of stream) {
    parts.push(part as Part)
    if (parts.length === 5) cut()
    if (isLast(part as Part)) break
  }
  return parts
}

const ticksOf = (parts: readonly Part[]) =>
  parts.filter(({ event }) => event === 'custom').map(({ data }) => data.n)

const allTicks = Array.from({ length: COUNT }, (_, n) => n)

test("LangGraph's client goes on with the stream of a run whose connection was lost, and gets each part once", async () => {
  const { client, cut, threadId } = await serve()
  const streamMode = ['custom', 'values'] as ('custom' | 'values')[]
  const started = await readBroken(client.runs.stream(threadId, 'ticking', { input: {}, streamMode }), cut)
  expect(ticksOf(started)).toEqual(allTicks)
  expect(started.map(({ id }) => id)).toEqual(started.map((_, index) => String(index)))
  const run = await client.runs.create(threadId, 'ticking', { input: {}, streamMode })
  const joined = await readBroken(client.runs.joinStream(threadId, run.run_id, { streamMode: 'custom' }), cut)
  expect(ticksOf(joined)).toEqual(allTicks)
})

test("LangGraph's client goes on with the stream of a thread whose connection was lost", async () => {
  const { client, cut, threadId } = await serve()
  await client.runs.create(threadId, 'ticking', { input: {}, streamMode: 'custom' })
  const isDone = ({ data }: Part) => data.status === 'run_done'
  const parts = await readBroken(client.threads.joinStream(threadId, { lastEventId: '-' }), cut, isDone)
  expect(ticksOf(parts)).toEqual(allTicks)
})

test('a client whose connection was lost while it waited finds the end of the run by its place', async () => {
  const { cut, origin, threadId } = await serve()
  const response = await fetch(`${origin}/threads/${threadId}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // The headers come after a second, before the run has ended.
    body: JSON.stringify({ assistant_id: 'ticking', input: {}, after_seconds: 1 }),
  })
  cut()
  await expect(response.text()).rejects.toThrow()
  const path = `${response.headers.get('content-location')}/join`
  const joined = await request(origin, 'GET', path)
  expect([joined.body.ticked, joined.headers.get('location')]).toEqual([COUNT, path])
})

test('the place to come back to asks for the same again', async () => {
  const { origin, threadId } = await serve()
  const body = { assistant_id: 'ticking', input: {}, on_disconnect: 'cancel' }
  const streamed = await request(origin, 'POST', `/threads/${threadId}/runs/stream`, body)
  const location = streamed.headers.get('location')!
  expect(location).toMatch(/\/stream\?cancel_on_disconnect=1$/)
  for (const path of [`${location}&stream_mode=custom`, location.replace('/stream', '/join')]) {
    const joined = await request(origin, 'GET', path)
    expect([joined.status, joined.headers.get('location')]).toEqual([200, path])
  }
})

test('a run whose thread goes with it has no place to come back to', async () => {
  const { origin } = await serve()
  const { status, headers } = await request(origin, 'POST', '/runs/stream', { assistant_id: 'ticking' })
  expect([status, headers.get('location')]).toEqual([200, null])
})

test('a link on a page of another origin cannot make its reader cancel a run by leaving', async () => {
  const { server, threadId, client } = await serve()
  const { run_id } = await client.runs.create(threadId, 'ticking', { input: {} })
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  const follow = async (path: string) => {
    const url = `http://127.0.0.1/threads/${threadId}/runs/${run_id}/${path}`
    const response = await server.fetch(new Request(url, { headers }))
    await response.body?.cancel()
    return response.status
  }
  const cancels = 'cancel_on_disconnect=1'
  expect(await Promise.all([follow(`stream?${cancels}`), follow(`join?${cancels}`)])).toEqual([403, 403])
  expect(await follow('stream')).toBe(200)
  await client.runs.join(threadId, run_id)
  expect((await client.runs.get(threadId, run_id)).status).toBe('success')
})
