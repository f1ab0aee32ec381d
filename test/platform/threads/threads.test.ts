import { MemorySaver } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { headOf } from '../../../src/engine/index.ts'
import { type AgentServer, defineAgent, memoryStore, type OwnEngineOptions } from '../../../src/index.ts'
import { approval } from '../../fixtures/graphs.ts'
import { request } from '../../kit/client.ts'
import { PLACES } from '../../kit/databases.ts'
import { serveAgents } from '../../kit/host.ts'
import { eventually } from '../../kit/wait.ts'

type Storage = Required<Pick<OwnEngineOptions, 'store' | 'checkpointer'>>

const STORES: readonly { name: string; open(): Promise<Storage> }[] = [
  ...PLACES,
  {
    name: "memory with LangGraph's MemorySaver",
    open: async () => ({ store: memoryStore(), checkpointer: new MemorySaver() as never }),
  },
]

const AGENTS = {
  ask: langgraph(approval()),
  plain: defineAgent({ run: async ({ message }) => void (await message('hello')) }),
}

async function serve(options: Partial<OwnEngineOptions> = {}) {
  const host = await serveAgents({ agents: AGENTS, defaultAgent: 'ask', ...options })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { host, client }
}

/** A thread of two runs, the second of which waits at an interrupt. */
async function interrupted(host: Awaited<ReturnType<typeof serve>>['host'], id: string) {
  const thread = host.thread(id)
  await thread.start({ notes: ['first'] }, { assistant_id: 'ask' })
  await thread.transcript()
  return thread
}

/** What differs between a thread and its copy. */
const moved = (json: unknown, from: string, to: string) =>
  JSON.parse(JSON.stringify(json).replaceAll(`"thread_id":"${from}"`, `"thread_id":"${to}"`))

describe.each(STORES)('over $name', ({ open }) => {
  test('a copy has the state and the whole history of its thread, goes on by itself, and has no events', async () => {
    const { host, client } = await serve(await open())
    const thread = await interrupted(host, 'source')
    await client.threads.update('source', { metadata: { team: 'red' } })
    const copy = await client.threads.copy('source')
    const { thread_id: id } = copy as unknown as { thread_id: string }
    expect(copy).toMatchObject({
      status: 'interrupted',
      metadata: { team: 'red', thread_id: id, graph_id: 'ask' },
    })
    const [state, history] = [
      await client.threads.getState('source'),
      await client.threads.getHistory('source'),
    ]
    expect(history.length).toBeGreaterThan(1)
    expect(await client.threads.getState(id)).toEqual(moved(state, 'source', id))
    expect(await client.threads.getHistory(id)).toEqual(moved(history, 'source', id))
    expect(await headOf((host.server as AgentServer).engine, { threadId: id })).toBe(0)
    const [open_] = (await client.threads.getState(id)).tasks.flatMap(({ interrupts }) => interrupts)
    const copied = host.thread(id)
    await copied.ok('input.respond', { interrupt_id: open_!.id, response: 'yes' })
    await copied.idle()
    expect((await client.threads.get(id)).status).toBe('idle')
    expect((await client.threads.get('source')).status).toBe('interrupted')
    expect(await client.threads.getHistory('source')).toEqual(history)
    await thread.request('DELETE', '')
    expect((await client.threads.getHistory(id)).length).toBeGreaterThan(history.length)
  })

  test('the history of a thread made with supersteps is that of its steps', async () => {
    const { client } = await serve(await open())
    const supersteps = [
      { updates: [{ values: { notes: ['in'] }, asNode: '__input__' }] },
      { updates: [{ values: { notes: ['in'] }, asNode: '__start__' }] },
    ]
    await client.threads.create({ threadId: 'made', graphId: 'ask', metadata: { a: 1 }, supersteps })
    const history = await client.threads.getHistory('made')
    expect(history.map(({ metadata }) => metadata?.source)).toEqual(['update', 'input'])
    expect(history[0]!.values).toEqual({ notes: ['in'] })
    expect(history[0]!.next).toHaveLength(1)
    expect(await client.threads.get('made')).toMatchObject({ metadata: { a: 1, graph_id: 'ask' } })
    const broken = [{ updates: [{ values: { notes: ['in'] }, asNode: 'nobody' }] }]
    await expect(
      client.threads.create({ threadId: 'broken', graphId: 'ask', supersteps: broken }),
    ).rejects.toThrow(/HTTP 4\d\d/)
    await expect(client.threads.get('broken')).rejects.toThrow('HTTP 404')
    await client.threads.create({
      threadId: 'function',
      graphId: 'plain',
      supersteps: [
        { updates: [{ values: { messages: [{ type: 'human', content: 'hi' }] }, asNode: '__input__' }] },
      ],
    })
    expect((await client.threads.getState('function')).values).toMatchObject({
      messages: [{ content: 'hi' }],
    })
  })

  test('threads are deleted when their time to live is over, with their state', async () => {
    const { host, client } = await serve({ ...(await open()), sweepMs: 200 })
    const brief = { ttl: 0.5 / 60, strategy: 'delete' } as const
    await interrupted(host, 'waits')
    await client.threads.update('waits', { ttl: brief })
    await client.threads.create({ threadId: 'brief', ttl: brief })
    await client.threads.create({ threadId: 'long', ttl: 1 })
    await client.threads.create({ threadId: 'refreshed', ttl: 5 / 60 })
    await client.threads.update('refreshed', { ttl: 60 })
    for (const id of ['brief', 'waits'])
      await eventually(async () => (await request(host.origin, 'GET', `/threads/${id}`)).status === 404)
    expect((await request(host.origin, 'GET', '/threads/waits/state')).status).toBe(404)
    expect(
      (await client.threads.search({ sortBy: 'thread_id', sortOrder: 'asc' })).map((one) => one.thread_id),
    ).toEqual(['long', 'refreshed'])
  })
})

test('a busy thread is copied as far as its run has saved', async () => {
  const { host, client } = await serve()
  await interrupted(host, 'busy')
  const [before] = (await client.threads.getState('busy')).tasks.flatMap(({ interrupts }) => interrupts)
  await host.thread('busy').ok('input.respond', { interrupt_id: before!.id, response: 'yes' })
  const { thread_id: id } = (await client.threads.copy('busy')) as unknown as { thread_id: string }
  await host.thread('busy').idle()
  const [whole, copied] = [await client.threads.getHistory('busy'), await client.threads.getHistory(id)]
  const ids = copied.map(({ checkpoint }) => checkpoint.checkpoint_id)
  expect(whole.map(({ checkpoint }) => checkpoint.checkpoint_id).slice(-ids.length)).toEqual(ids)
})

test('threads that the caller has are pruned', async () => {
  const { client } = await serve()
  for (const threadId of ['a', 'b', 'c']) await client.threads.create({ threadId })
  expect(await client.threads.prune(['a', 'b', 'b', 'unknown'])).toEqual({ pruned_count: 2 })
  expect(await client.threads.count()).toBe(1)
  await expect(client.threads.prune(['c'], { strategy: 'newest' as never })).rejects.toThrow('HTTP 400')
})

test('a search gives the fields that are selected, and what paths extract', async () => {
  const { host, client } = await serve()
  await interrupted(host, 't')
  const [found] = await client.threads.search({
    metadata: { graph_id: 'ask' },
    select: ['thread_id'],
    extract: {
      first: 'values.notes[0]',
      last: 'values.notes[-1]',
      none: 'values.nothing[3].x',
      team: 'metadata.team',
    },
  })
  expect(found).toEqual({
    thread_id: 't',
    extracted: { first: 'first', last: 'first', none: null, team: null },
  })
  for (const path of ['', '.', 'a..b', 'a[', 'a[x]', '.a', 'x'.repeat(501), 7]) {
    const answer = await request(host.origin, 'POST', '/threads/search', { extract: { path } })
    expect([path, answer.status]).toEqual([path, 400])
  }
  expect(await client.threads.search({ extract: { proto: '__proto__.toString' } })).toMatchObject([
    { extracted: { proto: null } },
  ])
})

test('pages of a search tell the total and where the next one begins', async () => {
  const { host, client } = await serve()
  const ids = ['a', 'b', 'c', 'd', 'e']
  for (const [n, threadId] of ids.entries())
    await client.threads.create({ threadId, metadata: { n, team: n < 3 ? 'red' : 'blue' } })
  const page = async (query: object) => {
    const response = await fetch(`${host.origin}/threads/search`, {
      method: 'POST',
      body: JSON.stringify({ limit: 2, ...query }),
    })
    const { headers } = response
    const found = (await response.json()) as { readonly length: number }
    return [found.length, headers.get('x-pagination-total'), headers.get('x-pagination-next')]
  }
  const red = { metadata: { team: 'red' } }
  expect([await page(red), await page({ ...red, offset: 2 })]).toEqual([
    [2, '3', '2'],
    [1, '3', null],
  ])
  // Named threads are all looked at, so all are counted.
  expect([await page({ ids }), await page({ ids, offset: 4 }), await page({ ...red, ids })]).toEqual([
    [2, '5', '2'],
    [1, '5', null],
    [2, '3', '2'],
  ])
})

test('metadata of the newest checkpoint are patched, and histories are filtered by them', async () => {
  const { host, client } = await serve()
  await interrupted(host, 't')
  const [before, history] = [await client.threads.getState('t'), await client.threads.getHistory('t')]
  await client.threads.patchState('t', { reviewed: true })
  const after = await client.threads.getState('t')
  expect(after).toEqual({ ...before, metadata: { ...before.metadata, reviewed: true } })
  expect(await client.threads.getHistory('t', { metadata: { reviewed: true } })).toHaveLength(1)
  expect(await client.threads.getHistory('t')).toHaveLength(history.length)
  await expect(client.threads.patchState('t', { source: 'input' })).rejects.toThrow('HTTP 400')
  await expect(client.threads.patchState('nobody', { a: 1 })).rejects.toThrow(
    'Thread with ID nobody not found',
  )
})

test('a rename does not change the time of the state', async () => {
  const { host, client } = await serve()
  await interrupted(host, 'old')
  await client.threads.create({ threadId: 'new' })
  const before = await client.threads.get('old')
  await client.threads.update('old', { metadata: { title: 'renamed' } })
  const after = (await client.threads.get('old')) as unknown as Record<string, string>
  expect(after.state_updated_at).toBe((before as unknown as Record<string, string>).state_updated_at)
  expect(Date.parse(after.updated_at!)).toBeGreaterThanOrEqual(Date.parse(before.updated_at))
  const newest = await client.threads.search({ sortBy: 'state_updated_at' as never })
  expect(newest.map((one) => one.thread_id)).toEqual(['new', 'old'])
  const minimal = await client.threads.update('old', { metadata: { a: 1 }, returnMinimal: true })
  expect(minimal).toBeUndefined()
})

test('states and histories give the fields that are selected', async () => {
  const { host, client } = await serve()
  await interrupted(host, 't')
  const { checkpoint } = await client.threads.getState('t')
  const options = { select: ['next'] } as never
  expect(await client.threads.getState('t', undefined, options)).toEqual({ next: expect.any(Array) })
  expect(await client.threads.getState('t', checkpoint, options)).toEqual({ next: expect.any(Array) })
  expect(await client.threads.getHistory('t', { limit: 1, select: ['next'] } as never)).toEqual([
    { next: expect.any(Array) },
  ])
  expect(await client.threads.getHistory('t', { limit: 0 })).toEqual([])
})
