import { MemorySaver } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  type AgentServer,
  type Checkpointer,
  defineAgent,
  memoryCheckpointer,
  memoryStore,
  type OwnEngineOptions,
} from '../../src/index.ts'
import { approval, nestedApproval, threeSteps } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { PLACES } from '../kit/databases.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { eventually, gate } from '../kit/wait.ts'
import { waitingIn } from '../threads/second-run.ts'
import { clientOf, USERS } from './auth/users.ts'

/** A function whose subagent asks. */
const asking = defineAgent({
  async run({ subagent, message }) {
    const found = await subagent('researcher', 'Find x', async ({ interrupt, setState, message: say }) => {
      await setState({ looked: true })
      await say(`It is ${await interrupt('what?')}.`)
    })
    await message(`Found: ${found}`)
  },
})

const AGENTS = {
  ask: langgraph(approval()),
  nested: langgraph(nestedApproval()),
  asking,
  steps: langgraph(threeSteps()),
}

async function serve(options: Partial<OwnEngineOptions> = {}) {
  const host = await serveAgents({ agents: AGENTS, defaultAgent: 'ask', ...options })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { host, client }
}

const keepLatest = (client: Client, ...ids: string[]) =>
  client.threads.prune(ids, { strategy: 'keep_latest' })

/** A run of an agent that ends or stops at a question. */
async function ran(host: Host, id: string, assistant: string, input: unknown = { notes: ['in'] }) {
  const thread = host.thread(id)
  await thread.start(input, { assistant_id: assistant })
  await thread.idle()
  return thread
}

const historyOf = async (client: Client, id: string) => (await client.threads.getHistory(id)) as unknown[]

async function answer(host: Host, client: Client, id: string, response: unknown) {
  const { tasks } = await client.threads.getState(id)
  const [open] = tasks.flatMap(({ interrupts }) => interrupts)
  await host.thread(id).ok('input.respond', { interrupt_id: open!.id, response })
  await host.thread(id).idle()
}

/** What a state says beside the checkpoint before it. */
const newest = async (client: Client, id: string) =>
  client.threads.getState(id, undefined, { subgraphs: true })

describe.each(PLACES)('over $name', ({ open }) => {
  test.each([
    ['graph', 'ask', { notes: ['in'] }],
    ['graph with a subgraph', 'nested', { notes: ['in'] }],
    ['function with a subagent', 'asking', 'find it'],
  ])(
    'a pruned thread of a %s has its newest state alone, and its question is answered',
    async (_, agent, input) => {
      const { host, client } = await serve(await open())
      await ran(host, 't', agent, input)
      const [before, record] = [await newest(client, 't'), await client.threads.get('t')]
      expect((await historyOf(client, 't')).length).toBeGreaterThan(1)
      expect(await keepLatest(client, 't', 'unknown', 't')).toEqual({ pruned_count: 1 })
      expect(await historyOf(client, 't')).toHaveLength(1)
      expect(await newest(client, 't')).toEqual(before)
      expect(await client.threads.get('t')).toEqual(record)
      expect(record.status).toBe('interrupted')
      await answer(host, client, 't', 'forty')
      expect((await client.threads.get('t')).status).toBe('idle')
      const { values } = await client.threads.getState('t')
      expect(JSON.stringify(values)).toContain('forty')
      expect(await keepLatest(client, 't')).toEqual({ pruned_count: 1 })
      expect(await historyOf(client, 't')).toHaveLength(1)
      const { thread_id: copy } = (await client.threads.copy('t')) as unknown as { thread_id: string }
      expect((await client.threads.getState(copy)).values).toEqual(values)
      await ran(host, copy, agent, input)
      expect((await client.threads.get(copy)).status).toBe('interrupted')
      expect(JSON.stringify((await client.threads.getState(copy)).values)).toContain('forty')
      expect((await client.threads.getState('t')).values).toEqual(values)
    },
  )

  test('a state is written, patched and forked on top of the one that is left', async () => {
    const { host, client } = await serve(await open())
    await ran(host, 't', 'steps')
    await keepLatest(client, 't')
    const { checkpoint, parent_checkpoint: parent } = await client.threads.getState('t')
    expect(parent?.checkpoint_id).toEqual(expect.any(String))
    await expect(client.threads.getState('t', parent!.checkpoint_id!)).rejects.toThrow('HTTP 404')
    await client.threads.patchState('t', { reviewed: true })
    expect((await client.threads.getState('t')).metadata).toMatchObject({ reviewed: true })
    expect((await client.threads.getState('t')).values).toEqual({ notes: ['in', 'one', 'two', 'three'] })
    await client.threads.updateState('t', { values: { notes: ['later'] }, asNode: 'three' })
    const forked = host.thread('t')
    await forked.start({ notes: ['forked'] }, { config: { configurable: checkpoint } })
    await forked.idle()
    expect((await client.threads.getState('t')).values).toEqual({
      notes: ['in', 'one', 'two', 'three', 'forked', 'one', 'two', 'three'],
    })
    const { body } = await request(host.origin, 'POST', '/threads/t/commands', {
      ...{ id: 1, method: 'state.fork', params: { checkpoint_id: parent!.checkpoint_id } },
    })
    expect(body).toMatchObject({ type: 'error', error: 'no_such_checkpoint' })
  })

  test('a thread whose time to live is over keeps its newest state, once for each change', async () => {
    const storage = await open()
    let shortened = 0
    const checkpointer: Checkpointer = counting(storage.checkpointer, () => void shortened++)
    const { host, client } = await serve({ ...storage, checkpointer, sweepMs: 100 })
    await ran(host, 't', 'ask')
    await ran(host, 'other', 'ask')
    await client.threads.update('t', { ttl: { ttl: 0.5 / 60, strategy: 'keep_latest' } as never })
    const before = await client.threads.getState('t')
    await eventually(async () => (await historyOf(client, 't')).length === 1)
    expect(await client.threads.getState('t')).toEqual(before)
    expect((await historyOf(client, 'other')).length).toBeGreaterThan(1)
    const sweeps = 5
    await new Promise((resolve) => setTimeout(resolve, sweeps * 150))
    expect(shortened).toBe(1)
    await answer(host, client, 't', 'yes')
    await eventually(async () => shortened === 2 && (await historyOf(client, 't')).length === 1)
    expect((await client.threads.getState('t')).values).toEqual({ notes: ['in', 'answer: yes', 'after'] })
  })

  test('after a rollback the state before the run stays, and the thread goes on from it', async () => {
    const { graph, reached } = waitingIn(2)
    const { host, client } = await serve({
      ...(await open()),
      agents: { steps: langgraph(graph) },
      defaultAgent: 'steps',
    })
    const thread = await ran(host, 't', 'steps')
    const before = await client.threads.getState('t')
    const run = await thread.start({ notes: ['undone'] })
    await reached
    await thread.request('POST', `/runs/${run}/cancel?wait=1&action=rollback`)
    expect(await keepLatest(client, 't')).toEqual({ pruned_count: 1 })
    expect(await client.threads.getState('t')).toEqual(before)
    expect(await historyOf(client, 't')).toEqual([before])
    await thread.start({ notes: ['next'] })
    await thread.idle()
    expect((await client.threads.getState('t')).values).toEqual({
      notes: ['in', 'one', 'two', 'three', 'next', 'one', 'two', 'three'],
    })
    await keepLatest(client, 't')
    expect(await historyOf(client, 't')).toHaveLength(1)
  })

  test('a cancelled run goes on where it was', async () => {
    const { graph, reached } = waitingIn(1)
    const { host, client } = await serve({
      ...(await open()),
      agents: { steps: langgraph(graph) },
      defaultAgent: 'steps',
    })
    const thread = host.thread('t')
    const run = await thread.start({ notes: ['in'] })
    await reached
    await expect(keepLatest(client, 't')).rejects.toThrow('HTTP 409')
    await thread.request('POST', `/runs/${run}/cancel?wait=1`)
    await keepLatest(client, 't')
    expect(await historyOf(client, 't')).toHaveLength(1)
    await thread.start(null)
    await thread.idle()
    expect((await client.threads.getState('t')).values).toEqual({ notes: ['in', 'one', 'two', 'three'] })
  })
})

/** A saver that tells of each time a thread is shortened. */
function counting(saver: Checkpointer, count: () => void): Checkpointer {
  const counted = (inner: Checkpointer): Checkpointer => ({
    ...inner,
    ...(inner.withFence && { withFence: (...args) => counted(inner.withFence!(...args)) }),
    async keepLatest(...args) {
      count()
      await inner.keepLatest!(...args)
    },
  })
  return counted(saver)
}

test('a thread with a run that is in progress or waits is refused, and none of the others is pruned', async () => {
  const { client, host } = await serve({ agents: { ...AGENTS, busy: puppet().agent } })
  await ran(host, 'idle', 'ask')
  await host.thread('busy').start({}, { assistant_id: 'busy' })
  await ran(host, 'later', 'steps')
  await client.runs.create('later', 'steps', { input: { notes: ['later'] }, afterSeconds: 600 })
  const before = await historyOf(client, 'idle')
  for (const id of ['busy', 'later']) {
    const { status, body } = await request(host.origin, 'POST', '/threads/prune', {
      thread_ids: ['idle', id],
      strategy: 'keep_latest',
    })
    expect([status, body]).toEqual([
      409,
      { error: 'thread_busy', message: expect.stringContaining(`Thread "${id}" is busy`) },
    ])
  }
  expect(await historyOf(client, 'idle')).toEqual(before)
  expect(await keepLatest(client, 'idle')).toEqual({ pruned_count: 1 })
})

test('runs that come while a thread is pruned start afterwards, and lose nothing', async () => {
  const inner = memoryCheckpointer()
  const { opened: begun, open: begin } = gate()
  const { opened: goOn, open: letGo } = gate()
  const checkpointer: Checkpointer = {
    ...inner,
    async keepLatest(...args) {
      begin()
      await goOn
      await inner.keepLatest(...args)
    },
  }
  const { client, host } = await serve({ checkpointer })
  const thread = await ran(host, 't', 'steps')
  const pruned = keepLatest(client, 't')
  await begun
  await thread.start({ notes: ['second'] }, { assistant_id: 'steps' })
  await expect(keepLatest(client, 't')).rejects.toThrow('HTTP 409')
  letGo()
  expect(await pruned).toEqual({ pruned_count: 1 })
  await thread.idle()
  expect((await client.threads.getState('t')).values).toEqual({
    notes: ['in', 'one', 'two', 'three', 'second', 'one', 'two', 'three'],
  })
})

describe('a saver that cannot shorten a thread', () => {
  const saver = () => new MemorySaver() as unknown as Checkpointer

  test('refuses to prune before anything is changed, and a time to live where it is given', async () => {
    const own = langgraph(threeSteps(undefined, { checkpointer: new MemorySaver() }))
    const { host, client } = await serve({ agents: { ...AGENTS, own } })
    await ran(host, 'ours', 'ask')
    await ran(host, 'own', 'own')
    const before = await historyOf(client, 'ours')
    const refused = { error: 'not_supported', message: expect.stringContaining('keepLatest') }
    const body = { thread_ids: ['ours', 'own'], strategy: 'keep_latest' }
    const answer = await request(host.origin, 'POST', '/threads/prune', body)
    expect([answer.status, answer.body]).toEqual([422, refused])
    expect(await historyOf(client, 'ours')).toEqual(before)
    const ttl = { ttl: 5, strategy: 'keep_latest' }
    const supersteps = [{ updates: [{ values: { notes: ['in'] }, as_node: '__input__' }] }]
    for (const [method, path, more, status] of [
      ['PATCH', '/threads/own', {}, 422],
      ['PATCH', '/threads/ours', {}, 200],
      ['POST', '/threads', { metadata: { graph_id: 'own' } }, 422],
      ['POST', '/threads', { metadata: { graph_id: 'own' }, supersteps }, 422],
      ['POST', '/threads', {}, 422],
      ['POST', '/threads', { metadata: { graph_id: 'ask' } }, 200],
      ['POST', '/threads', { metadata: { graph_id: 'ask' }, supersteps }, 200],
    ] as const) {
      const given = await request(host.origin, method, path, { ...more, ttl })
      expect([path, more, given.status]).toEqual([path, more, status])
      if (status === 422) expect(given.body).toEqual(refused)
    }
    expect(await client.threads.count()).toBe(4)
    expect(await client.threads.prune(['own'])).toEqual({ pruned_count: 1 })
  })

  test('is told of once where a thread got its time to live under another one', async () => {
    const store = memoryStore()
    const first = await serve({ store })
    await first.client.threads.create({
      threadId: 't',
      ttl: { ttl: 0.1 / 60, strategy: 'keep_latest' } as never,
    })
    await (first.host.server as AgentServer).close()
    const { host, client } = await serve({ store, checkpointer: saver(), sweepMs: 50 })
    await eventually(async () => host.errors.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(host.errors.splice(0)).toMatchObject([{ code: 'not_supported' }])
    expect(await client.threads.count()).toBe(1)
  })
})

test('threads of others are not pruned and look unknown, and authorize is asked for each', async () => {
  const asked: unknown[] = []
  const { host } = await serve({
    authenticate: (incoming) => {
      const name = incoming.headers.get('authorization')?.replace('Bearer ', '') ?? ''
      return name in USERS ? { id: name } : null
    },
    authorize: (_, action, { threadId }) => {
      if (action !== 'threads:delete') return true
      asked.push(threadId)
      return threadId !== 'guarded'
    },
  })
  const [ann, bob] = [clientOf(host.origin, 'ann'), clientOf(host.origin, 'bob')]
  for (const id of ['mine', 'guarded']) {
    const thread = host.thread(id, { authorization: 'Bearer ann' })
    await thread.start({ notes: ['in'] }, { assistant_id: 'ask' })
    await thread.idle()
  }
  const before = await historyOf(ann, 'mine')
  expect(await keepLatest(bob, 'mine')).toEqual({ pruned_count: 0 })
  await expect(keepLatest(ann, 'mine', 'guarded')).rejects.toThrow('HTTP 403')
  expect(asked).toEqual(['mine', 'mine', 'guarded'])
  expect(await historyOf(ann, 'mine')).toEqual(before)
  expect(await keepLatest(ann, 'mine')).toEqual({ pruned_count: 1 })
  expect(await historyOf(ann, 'mine')).toHaveLength(1)
})
