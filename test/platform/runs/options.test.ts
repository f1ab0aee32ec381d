import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../../src/index.ts'
import { nestedApproval, threeSteps, twoApprovals } from '../../fixtures/graphs.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { eventually } from '../../kit/wait.ts'

/** Its second step takes as long as the config says. */
const steps = () =>
  threeSteps(async (name, { configurable, signal }) => {
    if (name === 'two') await sleep(configurable?.pauseMs ?? 0, undefined, { signal })
  })

const endless = defineAgent({
  run: async ({ signal }) => {
    await sleep(60_000, undefined, { signal })
    return {}
  },
})
const echo = defineAgent({ run: async ({ input }) => ({ said: input }) })
const look = defineAgent({
  run: async ({ config }) => ({ seen: { configurable: config.configurable, context: config.context } }),
})

async function serve() {
  const agents = {
    steps: langgraph(steps()),
    two: langgraph(twoApprovals()),
    nested: langgraph(nestedApproval()),
    endless,
    echo,
    look,
  }
  const host = await serveAgents({ agents })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  const { thread_id } = await client.threads.create()
  const wait = async (body: object, agent = 'steps'): Promise<Json> =>
    client.runs.wait(thread_id, agent, body as never)
  const state = () => client.threads.getState<{ notes: string[] }>(thread_id)
  return { ...host, client, thread_id, wait, state }
}

const notes = { input: { notes: ['in'] } }
const pausing = (pauseMs: number) => ({ config: { configurable: { pauseMs } } })

describe('a run stops', () => {
  test('at a breakpoint, from which pages go on by an answer, also while a run waits for its time', async () => {
    const { client, thread_id, wait, state } = await serve()
    await wait({ ...notes, interruptBefore: ['two'] })
    const { run_id } = await client.runs.create(thread_id, 'steps', { ...notes, afterSeconds: 3600 })
    const resumed = await client.runs.create(thread_id, 'steps', {
      command: { resume: 'go' },
      multitaskStrategy: 'enqueue',
    })
    await client.runs.cancel(thread_id, run_id)
    await client.runs.join(thread_id, resumed.run_id)
    expect(await state()).toMatchObject({ next: [], values: { notes: ['in', 'one', 'two', 'three'] } })
  })

  test.each([
    [{ interruptBefore: ['two'] }, ['in', 'one'], ['two']],
    [{ interruptAfter: ['two'] }, ['in', 'one', 'two'], ['three']],
    [{ interruptBefore: '*' }, ['in'], ['one']],
    [{ interruptAfter: '*' }, ['in', 'one'], ['two']],
    [{ interruptBefore: ['one', 'three'] }, ['in'], ['one']],
  ])('where %j says, and a run without an input goes on', async (where, so, next) => {
    const { client, thread_id, wait, state } = await serve()
    expect((await wait({ ...notes, ...where })).notes).toEqual(so)
    expect(await state()).toMatchObject({ next, values: { notes: so } })
    const [run] = await client.runs.list(thread_id)
    expect(run?.status).toBe('success')
    expect((await client.threads.get(thread_id)).status).toBe('interrupted')
    await wait({ input: null })
    expect((await state()).values.notes).toEqual(['in', 'one', 'two', 'three'])
    expect((await client.threads.get(thread_id)).status).toBe('idle')
  })

  test('before each node in turn', async () => {
    const { wait, state } = await serve()
    await wait({ ...notes, interruptBefore: '*' })
    for (const next of ['two', 'three']) {
      await wait({ input: null, interruptBefore: '*' })
      expect((await state()).next).toEqual([next])
    }
  })

  test('with a stream whose last frame says that it waits', async () => {
    const { client, thread_id } = await serve()
    const frames: Json[] = []
    for await (const frame of client.runs.stream(thread_id, 'steps', { ...notes, interruptBefore: ['two'] }))
      frames.push(frame)
    expect(frames.at(-1)).toMatchObject({ event: 'values', data: { __interrupt__: [] } })
  })
})

describe('a run forks', () => {
  test.each(['checkpointId', 'checkpoint', 'config'])('from a checkpoint that %s names', async (how) => {
    const { client, thread_id, wait, state } = await serve()
    await wait(notes)
    const history = await client.threads.getHistory(thread_id)
    const before = history.find(({ next }) => next[0] === 'two')!
    const checkpoint_id = before.checkpoint.checkpoint_id!
    const named = {
      checkpointId: { checkpointId: checkpoint_id },
      checkpoint: { checkpoint: { checkpoint_id, checkpoint_ns: '' } },
      config: { config: { configurable: { checkpoint_id } } },
    }[how]
    await wait({ input: null, ...named })
    expect((await state()).values.notes).toEqual(['in', 'one', 'two', 'three'])
    const after = await client.threads.getHistory(thread_id)
    expect(after.length).toBeGreaterThan(history.length)
    const children = after.filter((one) => one.parent_checkpoint?.checkpoint_id === checkpoint_id)
    expect(children).toHaveLength(2)
  })

  test('not from one that is not there', async () => {
    const { client, thread_id, wait } = await serve()
    await wait(notes)
    const runs = await client.runs.list(thread_id)
    const checkpointId = '1f000000-0000-6000-8000-000000000000'
    await expect(wait({ input: null, checkpointId })).rejects.toThrow(/HTTP 4\d\d/)
    expect(await client.runs.list(thread_id)).toEqual(runs)
  })
})

test.each([
  ['exit', 1],
  ['sync', 5],
  ['async', 5],
] as const)('durability %s', async (durability, checkpoints) => {
  const { client, thread_id, wait } = await serve()
  await wait({ ...notes, durability })
  const history = await client.threads.getHistory<{ notes: string[] }>(thread_id)
  expect(history).toHaveLength(checkpoints)
  expect(history[0]?.values.notes).toEqual(['in', 'one', 'two', 'three'])
})

describe('a command', () => {
  test('answers several questions at once, or some of them', async () => {
    const { wait, state } = await serve()
    const { __interrupt__: asked } = await wait(notes, 'two')
    expect(asked).toHaveLength(2)
    const of = (value: string): string => asked.find((one: Json) => one.value === value).id
    await expect(wait({ command: { resume: 'both' } }, 'two')).rejects.toThrow('HTTP 400')
    const still = await wait({ command: { resume: { [of('left?')]: 'a' } } }, 'two')
    expect(still.__interrupt__).toEqual([{ id: of('right?'), value: 'right?' }])
    await wait({ command: { resume: { [of('right?')]: 'b' } } }, 'two')
    expect((await state()).values.notes).toEqual(['in', 'left: a', 'right: b', 'after'])
  })

  test('answers a question of a subgraph', async () => {
    const { wait, state } = await serve()
    const { __interrupt__: asked } = await wait(notes, 'nested')
    expect(asked).toMatchObject([{ value: 'inner?' }])
    await wait({ command: { resume: 'yes' } }, 'nested')
    expect((await state()).values.notes).toEqual(expect.arrayContaining(['answer: yes', 'after']))
  })

  test.each([[{ notes: ['more'] }], [[['notes', ['more']]]]])('updates the state with %j', async (update) => {
    const { wait, state } = await serve()
    await wait({ ...notes, interruptBefore: ['two'] })
    await wait({ command: { update } })
    expect((await state()).values.notes).toEqual(expect.arrayContaining(['in', 'one', 'more']))
  })

  test('goes to a node, beside those that were next, as in LangGraph', async () => {
    const { wait, state } = await serve()
    await wait({ ...notes, interruptBefore: ['two'] })
    await wait({ command: { goto: 'three' } })
    expect(await state()).toMatchObject({
      next: [],
      values: { notes: ['in', 'one', 'three', 'two', 'three'] },
    })
  })
})

describe('on a busy thread', () => {
  async function busy() {
    const served = await serve()
    const { client, thread_id } = served
    const first = await client.runs.create(thread_id, 'steps', { ...notes, ...pausing(60_000) })
    await eventually(async () => (await served.state()).values.notes?.includes('one') ?? false)
    const second = (multitaskStrategy: 'reject' | 'interrupt' | 'rollback' | 'enqueue') =>
      served.wait({ input: { notes: ['second'] }, multitaskStrategy, ...pausing(0) })
    return { ...served, first: first.run_id, second }
  }

  test('reject changes nothing', async () => {
    const { client, thread_id, second } = await busy()
    await expect(second('reject')).rejects.toThrow('Thread is already running a task')
    expect(await client.runs.list(thread_id)).toHaveLength(1)
  })

  test('interrupt keeps what the run before has written', async () => {
    const { client, thread_id, first, second } = await busy()
    expect((await second('interrupt')).notes).toEqual(['in', 'one', 'second', 'one', 'two', 'three'])
    expect((await client.runs.get(thread_id, first)).status).toBe('interrupted')
  })

  test('rollback undoes it, record and all', async () => {
    const { client, thread_id, first, second } = await busy()
    expect((await second('rollback')).notes).toEqual(['second', 'one', 'two', 'three'])
    await expect(client.runs.get(thread_id, first)).rejects.toThrow('HTTP 404')
  })

  test('enqueue waits for its end, in the order of the requests', async () => {
    const { client, thread_id, first, wait, state } = await busy()
    const waiting = []
    for (const name of ['b', 'c', 'd']) {
      waiting.push(wait({ input: { notes: [name] }, multitaskStrategy: 'enqueue', ...pausing(0) }))
      await eventually(async () => (await client.runs.list(thread_id)).length === waiting.length + 1)
    }
    await client.runs.cancel(thread_id, first)
    await Promise.all(waiting)
    const inputs = (await state()).values.notes.filter((note) => note.length === 1)
    expect(inputs).toEqual(['b', 'c', 'd'])
  })
})

test('a run without a thread is cancelled by its reader going away, and leaves nothing behind', async () => {
  const { client, thread_id } = await serve()
  const others = async () =>
    (await client.threads.search()).filter((thread) => thread.thread_id !== thread_id)
  for (const onDisconnect of ['cancel', undefined] as const) {
    const leave = new AbortController()
    let runId = ''
    const given = { input: {}, signal: leave.signal, ...(onDisconnect && { onDisconnect }) }
    const read = (async () => {
      for await (const frame of client.runs.stream(null, 'endless', given))
        if (frame.event === 'metadata') runId = (frame.data as Json).run_id
    })()
    await eventually(() => runId !== '')
    leave.abort()
    await read.catch(() => {})
    if (onDisconnect === undefined) {
      await sleep(200)
      expect((await client.runs.get(runId, runId)).status).toBe('running')
      await client.runs.cancel(runId, runId)
    }
    await eventually(async () => (await others()).length === 0)
  }
})

test('a batch starts up to a hundred runs, and more are refused as a whole', async () => {
  const { client, origin, thread_id } = await serve()
  const bodies = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ assistant_id: 'echo', input: { n }, on_completion: 'keep' }))
  expect((await request(origin, 'POST', '/runs/batch', bodies(101))).status).toBe(400)
  expect(await client.threads.count()).toBe(1)
  const { body: runs } = await request(origin, 'POST', '/runs/batch', bodies(100))
  expect(new Set(runs.map((run: Json) => run.run_id)).size).toBe(100)
  expect(runs.map((run: Json) => run.kwargs.input.n)).toEqual(Array.from({ length: 100 }, (_, n) => n))
  const ended = await Promise.all(runs.map((run: Json) => request(origin, 'GET', `/runs/${run.run_id}/join`)))
  expect(ended.map(({ body }) => body.said.n)).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(await client.threads.count()).toBe(101)
  expect((await client.threads.search({ limit: 1, ids: [thread_id] }))[0]?.status).toBe('idle')
})

test('an assistant that is named by its UUID gives its settings, which those of the thread and of the run go before', async () => {
  const { client, thread_id, wait } = await serve()
  const { assistant_id } = await client.assistants.create({
    graphId: 'look',
    config: { configurable: { a: 'assistant', b: 'assistant', c: 'assistant' } },
    context: { x: 'assistant', y: 'assistant' },
    metadata: { m: 'assistant', n: 'assistant' },
  })
  await wait({ input: {}, config: { configurable: { b: 'earlier', c: 'earlier' } } }, assistant_id)
  const { seen } = await wait(
    { input: {}, config: { configurable: { c: 'run' } }, context: { y: 'run' }, metadata: { n: 'run' } },
    assistant_id,
  )
  expect(seen.configurable).toMatchObject({
    a: 'assistant',
    b: 'earlier',
    c: 'run',
    graph_id: 'look',
    assistant_id,
  })
  expect(seen.context).toEqual({ x: 'assistant', y: 'run' })
  const [run] = await client.runs.list(thread_id)
  expect(run).toMatchObject({ assistant_id, metadata: { m: 'assistant', n: 'run' } })
  const thread = await client.threads.get(thread_id)
  expect(thread.metadata).toMatchObject({ assistant_id, graph_id: 'look' })
  expect(thread).toMatchObject({ config: { configurable: { a: 'assistant', b: 'earlier', c: 'run' } } })
  expect(await client.threads.copy(thread_id)).toMatchObject({ config: {} })
})

test('a run says which assistant it is of, also after a run of another one', async () => {
  const { client, thread_id, wait } = await serve()
  const { assistant_id } = await client.assistants.create({ graphId: 'look' })
  await wait({ input: {} }, 'look')
  await wait({ input: {} }, assistant_id)
  const [second, first] = await client.runs.list(thread_id)
  expect(second).toMatchObject({ metadata: { graph_id: 'look', assistant_id } })
  expect(first!.assistant_id).not.toBe(assistant_id)
  expect(first).toMatchObject({ metadata: { graph_id: 'look', assistant_id: first!.assistant_id } })
})
