import { interrupt, START, StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { approval, chat, Notes, nestedApproval, threeSteps } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { isRoot, isTerminal, type Json, rootStates } from '../kit/events.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { gate } from '../kit/wait.ts'

/** Thread records, through the SDK's client where it has a method (docs/protocol.md §8). */

async function serve() {
  const actor = puppet()
  const host = await serveAgents({
    agents: {
      chat: langgraph(chat()),
      ask: langgraph(approval()),
      bad: langgraph(threeSteps(() => Promise.reject(new Error('kaput')))),
      busy: actor.agent,
    },
  })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { host, client, actor }
}

const ids = (threads: readonly { thread_id: string }[]) => threads.map(({ thread_id }) => thread_id)

test('a record can be created, read, updated and deleted', async () => {
  const { client } = await serve()
  const made = await client.threads.create({ metadata: { user: 'u', list: [1] }, graphId: 'chat' })
  expect(made).toMatchObject({
    thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    status: 'idle',
    metadata: { user: 'u', list: [1], graph_id: 'chat' },
    interrupts: {},
  })
  expect(new Date(made.created_at).toISOString()).toBe(made.created_at)
  expect(await client.threads.get(made.thread_id)).toEqual(made)
  expect((await client.threads.getState(made.thread_id)).values).toEqual({})
  const updated = await client.threads.update(made.thread_id, { metadata: { list: [], more: null } })
  expect(updated.metadata).toEqual({
    user: 'u',
    list: [],
    more: null,
    graph_id: 'chat',
    assistant_id: 'chat',
  })
  expect(await client.threads.get(made.thread_id)).toEqual(updated)
  await client.threads.delete(made.thread_id)
  await expect(client.threads.get(made.thread_id)).rejects.toMatchObject({ status: 404 })
  await expect(client.threads.delete(made.thread_id)).rejects.toMatchObject({ status: 404 })
  await expect(client.threads.update(made.thread_id, { metadata: {} })).rejects.toMatchObject({ status: 404 })
})

test('a record has the newest values, and the interrupts by the task that asked', async () => {
  const { host, client } = await serve()
  const thread = host.thread('ask')
  expect((await client.threads.create({ threadId: 'ask' })).values).toBeNull()
  await thread.start({ notes: ['in'] }, { assistant_id: 'ask' })
  const { tasks } = await thread.idle()
  const expected = { values: { notes: ['in'] }, interrupts: { [tasks[0].id]: tasks[0].interrupts } }
  expect(tasks[0].interrupts).toHaveLength(1)
  expect(await client.threads.get('ask')).toMatchObject(expected)
  expect(await client.threads.search()).toMatchObject([expected])
  expect(await client.threads.update('ask', { metadata: { n: 1 } })).toMatchObject(expected)
  expect(await client.threads.create({ threadId: 'ask', ifExists: 'do_nothing' })).toMatchObject(expected)
  await thread.start('yes')
  const { values } = await thread.idle()
  const after = await client.threads.get('ask')
  expect(after.values).toEqual(values)
  expect(after.interrupts).toEqual({})
})

/** Two nodes that ask at once, of which one goes on only when the gate opens. */
const slowTwo = (answered: Promise<void>) =>
  new StateGraph(Notes)
    .addNode('left', async () => {
      const answer = interrupt('left?')
      await answered
      return { notes: [String(answer)] }
    })
    .addNode('right', () => ({ notes: [String(interrupt('right?'))] }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .compile()

test('interrupts are listed under the task of the root, also those of a subgraph, and not once they are answered', async () => {
  const { opened, open } = gate()
  const agents = { nested: langgraph(nestedApproval()), two: langgraph(slowTwo(opened)) }
  const host = await serveAgents({ agents })
  const nested = host.thread()
  await nested.start({}, { assistant_id: 'nested' })
  const [task] = (await nested.idle()).tasks
  expect((await nested.get('')).body.interrupts).toEqual({ [task.id]: task.interrupts })
  const two = host.thread()
  await two.start({}, { assistant_id: 'two' })
  const [left, right] = (await two.idle()).tasks
  expect((await two.get('')).body.interrupts).toEqual({
    [left.id]: left.interrupts,
    [right.id]: right.interrupts,
  })
  await two.ok('input.respond', { interrupt_id: left.interrupts[0].id, response: 'yes' })
  const { status, interrupts } = (await two.get('')).body
  expect([status, interrupts]).toEqual(['busy', { [left.id]: [], [right.id]: right.interrupts }])
  open()
  await two.idle()
})

test('a thread whose state cannot be read keeps its record', async () => {
  const actor = puppet({ getState: () => Promise.reject(new Error('broken')) })
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  await thread.start()
  actor.emit({ method: 'input.requested', namespace: [], data: { interrupt_id: 'i', payload: 'go?' } })
  actor.finish()
  await thread.transcript()
  const expected = { status: 'interrupted', values: null, interrupts: { i: [{ id: 'i', value: 'go?' }] } }
  expect((await thread.get('')).body).toMatchObject(expected)
  expect((await request(host.origin, 'POST', '/threads/search', {})).body).toMatchObject([expected])
})

test('the metadata of a run are those of the thread that it creates, and of no other', async () => {
  const { host, client } = await serve()
  const thread = host.thread()
  const own = { user: 'u', deep: { n: [1] } }
  const config = { metadata: { trace: 'only' } }
  await thread.start({}, { assistant_id: 'chat', metadata: { ...own, graph_id: '_' }, config })
  const named = { assistant_id: 'chat', graph_id: 'chat' }
  expect((await client.threads.get(thread.id)).metadata).toEqual({ ...own, ...named })
  expect(ids(await client.threads.search({ metadata: own }))).toEqual([thread.id])
  await thread.start({}, { metadata: { user: 'other' } })
  expect((await client.threads.get(thread.id)).metadata).toEqual({ ...own, ...named })
})

describe('the agent of a new thread', () => {
  // The SDK sends a `graph_id` of its own.
  const create = async (host: Host, thread_id: string, metadata: Json): Promise<Json> =>
    (await request(host.origin, 'POST', '/threads', { thread_id, metadata })).body

  test.each(['graph_id', 'assistant_id'])('is the one that metadata.%s names', async (key) => {
    const { host, client } = await serve()
    const made = await create(host, 't', { [key]: 'ask' })
    expect(made.metadata).toEqual({ graph_id: 'ask', assistant_id: 'ask' })
    const thread = host.thread('t')
    // A write before the first run goes to this agent.
    await client.threads.updateState('t', { values: { notes: ['first'] } })
    expect((await client.threads.get('t')).values).toEqual({ notes: ['first'] })
    expect(await thread.refused('run.start', { assistant_id: 'chat', input: {} })).toBe('invalid_argument')
    await thread.start({ notes: ['second'] })
    expect((await thread.idle()).values).toEqual({ notes: ['first', 'second'] })
  })

  test('stays open where metadata name none of the server', async () => {
    const { host, client } = await serve()
    const names = ['_', 'elsewhere', 7]
    for (const [at, graph_id] of names.entries()) {
      const made = await create(host, `t${at}`, { graph_id })
      expect(made.metadata).toEqual(graph_id === '_' ? {} : { graph_id })
      const patched = await client.threads.update(`t${at}`, { metadata: { assistant_id: '_' } })
      expect(patched.metadata).toEqual(made.metadata)
      await host.thread(`t${at}`).start({}, { assistant_id: 'chat' })
      expect((await client.threads.get(`t${at}`)).metadata).toEqual({
        graph_id: 'chat',
        assistant_id: 'chat',
      })
    }
  })
})

test('creating a thread under a taken id is refused, or gives the thread back', async () => {
  const { client } = await serve()
  const threadId = 'mine/1'
  const made = await client.threads.create({ threadId, metadata: { n: 1 } })
  await expect(client.threads.create({ threadId })).rejects.toMatchObject({ status: 409 })
  await expect(client.threads.create({ threadId, ifExists: 'raise' })).rejects.toMatchObject({ status: 409 })
  expect(await client.threads.create({ threadId, metadata: { n: 2 }, ifExists: 'do_nothing' })).toEqual(made)
})

test('a record has the status that its runs left', async () => {
  const { host, client } = await serve()
  const expected = {
    chat: { status: 'idle', error: null, interrupts: {} },
    ask: { status: 'interrupted', error: null },
    bad: { status: 'error', error: 'kaput', interrupts: {} },
    busy: { status: 'busy', error: null, interrupts: {} },
  }
  for (const [assistant_id, record] of Object.entries(expected)) {
    const thread = host.thread(assistant_id)
    const before = Date.now()
    await thread.start({}, { assistant_id })
    if (assistant_id !== 'busy') await thread.idle()
    const found: Json = await client.threads.get(assistant_id)
    expect(found).toMatchObject({ ...record, metadata: { assistant_id, graph_id: assistant_id } })
    expect(Date.parse(found.updated_at)).toBeGreaterThanOrEqual(before)
  }
  const asked: Json = await client.threads.get('ask')
  const state = await client.threads.getState('ask')
  expect(Object.values(asked.interrupts).flat()).toEqual(state.tasks.flatMap(({ interrupts }) => interrupts))
  for (const status of ['idle', 'busy', 'interrupted', 'error'] as const) {
    const found = await client.threads.search({ status })
    expect(found.map((thread) => thread.status)).toEqual([status])
    expect(await client.threads.count({ status })).toBe(1)
  }
})

describe('search', () => {
  test('finds threads by metadata, assistant and ids, and counts them', async () => {
    const { host, client } = await serve()
    for (let n = 0; n < 6; n++)
      await client.threads.create({ threadId: `t${n}`, metadata: { even: n % 2 === 0, deep: { n } } })
    await host.thread('t1').start({ messages: [] }, { assistant_id: 'chat' })
    await host.thread('t1').idle()
    expect(ids(await client.threads.search({ metadata: { even: true } })).sort()).toEqual(['t0', 't2', 't4'])
    expect(ids(await client.threads.search({ metadata: { even: true, deep: { n: 2 } } }))).toEqual(['t2'])
    expect(ids(await client.threads.search({ metadata: { assistant_id: 'chat' } }))).toEqual(['t1'])
    expect(ids(await client.threads.search({ metadata: { none: 1 } }))).toEqual([])
    expect(ids(await client.threads.search({ ids: ['t5', 't3', 'none'] })).sort()).toEqual(['t3', 't5'])
    expect(await client.threads.count()).toBe(6)
    expect(await client.threads.count({ metadata: { even: false } })).toBe(3)
  })

  test('by metadata counts to one beyond the page, and the whole where it ends there', async () => {
    const { host, client } = await serve()
    for (let n = 0; n < 6; n++)
      await client.threads.create({ metadata: { even: n % 2 === 0, flags: [n % 2] } })
    const total = async (query: Json) => {
      const { headers } = await request(host.origin, 'POST', '/threads/search', query)
      return headers.get('x-pagination-total')
    }
    // There are lists of the threads by this key.
    expect(await total({ metadata: { even: true }, limit: 1 })).toBe('3')
    const metadata = { even: true, flags: [0] }
    expect(await total({ metadata, limit: 1 })).toBe('2')
    expect(await total({ metadata, limit: 1, offset: 1 })).toBe('3')
    expect(await total({ metadata, limit: 5 })).toBe('3')
  })

  test('sorts, pages and gives the total', async () => {
    const { host, client } = await serve()
    const names = ['c', 'a', 'b', 'e', 'd']
    let last = ''
    for (const threadId of names) {
      let made: Json
      // Times are in milliseconds, so this waits until each thread has its own.
      do made = await client.threads.create({ threadId, ifExists: 'do_nothing' })
      while (made.created_at === last && (await client.threads.delete(threadId)) === undefined)
      last = made.created_at
    }
    const byTime = { sortBy: 'created_at', sortOrder: 'asc' } as const
    expect(ids(await client.threads.search(byTime))).toEqual(names)
    expect(ids(await client.threads.search({ ...byTime, sortOrder: 'desc' }))).toEqual([...names].reverse())
    expect(ids(await client.threads.search())).toEqual([...names].reverse())
    expect(ids(await client.threads.search({ sortBy: 'thread_id', sortOrder: 'asc' }))).toEqual(
      [...names].sort(),
    )
    const pages = [0, 2, 4, 6].map((offset) => client.threads.search({ ...byTime, limit: 2, offset }))
    expect((await Promise.all(pages)).map(ids)).toEqual([['c', 'a'], ['b', 'e'], ['d'], []])
    const page = await request(host.origin, 'POST', '/threads/search', { limit: 2 })
    expect(page.headers.get('x-pagination-total')).toBe('5')
    const [first] = await client.threads.search({ ...byTime, limit: 1 })
    await client.threads.update(first!.thread_id, { metadata: { touched: true } })
    expect(ids(await client.threads.search({ limit: 1 }))).toEqual(['c'])
  })

  test('finds threads by status', async () => {
    const { host, client } = await serve()
    await host.thread('one').start({}, { assistant_id: 'ask' })
    await host.thread('one').idle()
    await client.threads.create({ threadId: 'two' })
    expect(ids(await client.threads.search({ sortBy: 'status', sortOrder: 'asc' }))).toEqual(['two', 'one'])
  })

  test('gives the selected fields only, and reads no state for others', async () => {
    const getState = vi.fn(async () => undefined)
    const { agent } = puppet({ getState })
    const host = await serveAgents({ agents: { a: agent } })
    for (let n = 0; n < 20; n++) await host.thread(`t${n}`).start()
    const found = async (query: Json) => (await request(host.origin, 'POST', '/threads/search', query)).body
    getState.mockClear()
    const select = ['thread_id', 'status', 'metadata', 'unknown']
    for (const thread of await found({ select, limit: 20 }))
      expect(Object.keys(thread).sort()).toEqual(['metadata', 'status', 'thread_id'])
    expect(getState).toHaveBeenCalledTimes(0)
    expect(await found({ select: ['values'], limit: 7 })).toEqual(Array(7).fill({ values: null }))
    expect(getState).toHaveBeenCalledTimes(7)
    getState.mockClear()
    const names = (threads: readonly Json[]) => threads.map(({ thread_id }) => thread_id)
    const all = names(await found({ limit: 20 }))
    expect(names(await found({ select: ['thread_id'], limit: 20 }))).toEqual(all)
    getState.mockClear()
    // A search by values has read the states that it gives.
    expect(await found({ values: {}, limit: 20 })).toHaveLength(20)
    expect(getState).toHaveBeenCalledTimes(20)
    for (let n = 20; n < 25; n++) await host.thread(`t${n}`).start()
    getState.mockClear()
    // It keeps no more than twenty, and reads the others again.
    expect(await found({ values: {}, limit: 25 })).toHaveLength(25)
    expect(getState).toHaveBeenCalledTimes(30)
  })

  test.each<[Json, readonly number[]]>([
    [{}, [0, 1, 2, 3, 4, 5, 6]],
    [{ metadata: { even: true } }, [0, 2, 4, 6]],
    [{ metadata: { flags: [0] } }, [0, 2, 4, 6]],
    [{ metadata: { even: true, flags: [1] } }, []],
    [{ values: {} }, [0, 1, 2, 3, 4, 5, 6]],
    [{ values: { none: 1 } }, []],
    [{ values: {}, metadata: { even: false } }, [1, 3, 5]],
    [{ values: {}, metadata: { flags: [1] } }, [1, 3, 5]],
    [{ ids: ['t5', 't3', 't4', 'none', 't3'] }, [3, 4, 5]],
    [{ ids: ['t5', 't3', 't4'], metadata: { even: false } }, [3, 5]],
    [{ ids: ['t5', 't3', 't4'], values: {}, status: 'idle' }, [3, 4, 5]],
    [{ ids: ['t5', 't3', 't4'], values: { none: 1 } }, []],
    [{ ids: ['t5', 't3', 't4'], status: 'busy' }, []],
    [{ ids: [] }, []],
  ])(
    '%j gives the same threads page by page, in both directions, and counts them',
    async (query, numbers) => {
      const { host, client } = await serve()
      for (let n = 0; n < 7; n++)
        await client.threads.create({ threadId: `t${n}`, metadata: { even: n % 2 === 0, flags: [n % 2] } })
      const names = numbers.map((n) => `t${n}`)
      const post = (path: string, more?: Json) => request(host.origin, 'POST', path, { ...query, ...more })
      expect((await post('/threads/count')).body).toBe(names.length)
      for (const [sort_order, sorted] of [
        ['asc', names],
        ['desc', [...names].reverse()],
      ] as const) {
        for (let offset = 0; offset <= 8; offset += 2) {
          const page = await post('/threads/search', { sort_by: 'thread_id', sort_order, limit: 2, offset })
          expect(ids(page.body)).toEqual(sorted.slice(offset, offset + 2))
          const total = Number(page.headers.get('x-pagination-total'))
          const isWhole = query.ids || total === names.length
          expect(total).toBe(isWhole ? names.length : offset + 3)
        }
      }
    },
  )

  test('finds by values exactly the threads whose state has them', async () => {
    const { host, client } = await serve()
    for (const text of ['x', 'y']) {
      await host
        .thread(text)
        .start({ messages: [{ type: 'human', content: text, id: 'h' }] }, { assistant_id: 'chat' })
      await host
        .thread(text)
        .start({ notes: [text] }, { assistant_id: 'ask' })
        .catch(() => {})
    }
    await host.thread('z').start({ notes: ['z'] }, { assistant_id: 'ask' })
    await host.thread('z').idle()
    expect(ids(await client.threads.search({ values: { notes: ['z'] } }))).toEqual(['z'])
  })

  test.each([
    { limit: 0 },
    { limit: 1_001 },
    { limit: 'x' },
    { offset: -1 },
    { ids: 'x' },
    { status: 'gone' },
    { metadata: [] },
    { sort_by: 'color' },
    { sort_order: 'up' },
    { select: 'values' },
    { select: [1] },
  ])('what is no query is 400: %j', async (query) => {
    const { host } = await serve()
    for (const path of ['/threads/search', '/threads/count']) {
      const { status, body } = await request(host.origin, 'POST', path, query)
      expect([path, status, body.error]).toEqual([path, 400, 'invalid_argument'])
    }
  })
})

test('GET /threads lists the newest first, with titles from the first human text', async () => {
  const { host } = await serve()
  const list = async (query = '') => (await request(host.origin, 'GET', `/threads${query}`)).body
  expect(await list()).toEqual([])
  const inputs: readonly (readonly [string, unknown, string | null])[] = [
    ['flat', { messages: [{ type: 'human', content: '  What is x?  ' }] }, 'What is x?'],
    [
      'role',
      {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Hi' },
        ],
      },
      'Hi',
    ],
    ['pair', { messages: [['human', 'Pair']] }, 'Pair'],
    [
      'blocks',
      {
        messages: [
          {
            type: 'human',
            content: [{ type: 'text', text: 'A' }, { type: 'image' }, { type: 'text', text: 'B' }],
          },
        ],
      },
      'AB',
    ],
    [
      'envelope',
      {
        messages: [
          {
            lc: 1,
            type: 'constructor',
            id: ['langchain_core', 'messages', 'HumanMessage'],
            kwargs: { content: 'Env' },
          },
        ],
      },
      'Env',
    ],
    ['text', { messages: 'just text' }, 'just text'],
    ['long', { messages: [{ type: 'human', content: `${'👍'.repeat(100)}` }] }, '👍'.repeat(80)],
    ['none', { other: 1 }, null],
    ['number', { messages: 42 }, null],
  ]
  for (const [id, input] of inputs) await host.thread(id).start(input, { assistant_id: 'busy' })
  const listed = await list()
  expect(new Map(listed.map(({ id, title }: Json) => [id, title]))).toEqual(
    new Map(inputs.map(([id, , title]) => [id, title])),
  )
  const times = listed.map(({ updatedAt }: Json) => updatedAt)
  expect(times).toEqual([...times].sort().reverse())
  expect(await list('?limit=2&offset=1')).toEqual(listed.slice(1, 3))
  for (const query of ['?limit=x', '?limit=-1', '?limit=1001', '?offset=1.5'])
    expect((await request(host.origin, 'GET', `/threads${query}`)).status).toBe(400)
})

test('a title that a client gives is listed and found in place of the first human text', async () => {
  const { host } = await serve()
  await host.thread('t').start({ messages: 'First words' }, { assistant_id: 'busy' })
  const titles = async () => {
    const [listed] = (await request(host.origin, 'GET', '/threads')).body
    const [found] = (await request(host.origin, 'POST', '/threads/search', {})).body
    return [listed.title, found.metadata.title]
  }
  const rename = (title: unknown) => request(host.origin, 'PATCH', '/threads/t', { metadata: { title } })
  expect(await titles()).toEqual(['First words', 'First words'])
  await rename('My talk')
  expect(await titles()).toEqual(['My talk', 'My talk'])
  const [found] = (await request(host.origin, 'POST', '/threads/search', { metadata: { title: 'My talk' } }))
    .body
  expect(found.thread_id).toBe('t')
  await rename(null)
  expect(await titles()).toEqual(['First words', 'First words'])
})

describe('delete', () => {
  test('removes record, state, history and log of an idle thread, and breaks its streams', async () => {
    const { host } = await serve()
    const thread = host.thread()
    await thread.start({ messages: [{ type: 'human', content: 'Q' }] }, { assistant_id: 'chat' })
    const stream = await thread.stream()
    const before = await stream.until((events) => events.some(isTerminal))
    expect((await thread.request('DELETE', '')).status).toBe(204)
    expect(await stream.ended).toBe('broken')
    for (const path of ['', '/state', '/history'])
      expect([path, (await thread.get(path)).status]).toEqual([path, 404])
    expect(await thread.refused('state.get', { namespace: [] })).toBe('no_such_run')
    // A client that reconnects gets 404 and does not retry.
    expect(await thread.post('/stream', { channels: ['values'] })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    await thread.start({ messages: [{ type: 'human', content: 'again' }] }, { assistant_id: 'ask' })
    const again = await thread.stream()
    const after = await again.until((events) => events.some(isTerminal))
    expect(after.find(isRoot)!.seq).toBeGreaterThan(before.at(-1)!.seq)
    expect(new Set([...before, ...after].map(({ event_id }) => event_id)).size).toBe(
      before.length + after.length,
    )
    expect((await thread.get('/state')).body.values.messages).toBeUndefined()
  })

  test('stops a run in progress, drops queued runs and breaks streams', async () => {
    const { host, actor } = await serve()
    const thread = host.thread()
    const run = await thread.start({}, { assistant_id: 'busy' })
    const waits = await thread.start({}, { assistant_id: 'busy' })
    const stream = await thread.stream()
    const cancelled = thread.post(`/runs/${waits}/cancel?wait=1`)
    expect((await thread.request('DELETE', '')).status).toBe(204)
    expect([204, 404]).toContain((await cancelled).status)
    expect(await stream.ended).toBe('broken')
    expect(actor.tasks).toHaveLength(1)
    expect(actor.tasks[0]!.signal.aborted).toBe(true)
    expect((await thread.post(`/runs/${run}/cancel`)).status).toBe(404)
    expect((await thread.get('')).status).toBe(404)
    await thread.start({}, { assistant_id: 'busy' })
    expect(actor.tasks).toHaveLength(2)
    expect(rootStates(await (await thread.stream()).until((events) => events.length > 0))).toEqual([
      'running',
    ])
  })

  test('sent twice at once deletes once', async () => {
    const { host } = await serve()
    const thread = host.thread()
    await thread.start({}, { assistant_id: 'busy' })
    const answers = await Promise.all([1, 2, 3].map(() => thread.request('DELETE', '')))
    expect(answers.map(({ status }) => status).sort()[0]).toBe(204)
    for (const { status } of answers) expect([204, 404]).toContain(status)
    expect((await thread.get('')).status).toBe(404)
  })

  test('beside starts of runs either refuses a start or removes its run with the thread', async () => {
    const { host, actor } = await serve()
    const thread = host.thread()
    await thread.start({}, { assistant_id: 'busy' })
    const starts = Array.from({ length: 10 }, () =>
      thread.command('run.start', { assistant_id: 'busy', input: {} }),
    )
    const [deleted] = await Promise.all([thread.request('DELETE', ''), ...starts])
    expect(deleted.status).toBe(204)
    const left = await thread.get('')
    if (left.status === 404) expect(actor.tasks.every(({ signal }) => signal.aborted)).toBe(true)
    else expect(left.body.status).toBe('busy')
  })
})
