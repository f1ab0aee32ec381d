import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Authenticate, type Authorize, createAgentServer, defineAgent } from '../../src/index.ts'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'
import type { DevtoolsOptions } from '../../src/ops/devtools/index.ts'
import { approval, threeSteps } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { DATABASES } from '../kit/databases.ts'
import type { WireEvent } from '../kit/events.ts'
import { readFrames } from '../kit/frames.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { eventually } from '../kit/wait.ts'

const authenticate: Authenticate = (incoming) => {
  const id = incoming.headers.get('authorization')?.replace('Bearer ', '')
  return id ? { id } : null
}
const as = (id: string) => ({ authorization: `Bearer ${id}` })
const ANN = as('ann')

const weather = defineAgent({
  input: z.object({ city: z.string() }),
  async run({ input, message }) {
    await message(`It is sunny in ${input.city}.`)
  },
})

const API = '/devtools/api'
const get = (host: Host, path: string, headers = {}) =>
  request(host.origin, 'GET', API + path, undefined, headers)
const post = (host: Host, path: string, body: unknown, headers = {}) =>
  request(host.origin, 'POST', API + path, body, headers)

interface Setting {
  readonly authorize?: Authorize
  readonly devtools?: true | DevtoolsOptions
}

describe.each(Object.entries(DATABASES))('devtools over %s', (name, create) => {
  async function serve({ devtools = true, ...options }: Setting = {}) {
    const { store, checkpointer } = await (await create())()
    const { agent, emit, finish } = puppet()
    const agents = { ask: langgraph(approval()), steps: langgraph(threeSteps()), slow: agent, weather }
    const host = await serveAgents({ agents, store, checkpointer, authenticate, devtools, ...options })
    return { host, emit, finish }
  }

  test('shows a thread with its runs, its question and its log, and answers the question', async () => {
    const { host } = await serve()
    const thread = host.thread('t', ANN)
    const run = await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
    await eventually(async () => (await thread.get('')).body.status === 'interrupted')

    const { body: page } = await get(host, '/threads', ANN)
    expect(page).toMatchObject({
      total: 1,
      threads: [{ thread_id: 't', assistant_id: 'ask', status: 'interrupted', queued: 0, interrupts: 1 }],
    })
    const { body: detail } = await get(host, '/threads/t', ANN)
    expect(detail).toMatchObject({
      runs: [{ run_id: run, status: 'interrupted', first_seq: 1, attempts: 1, error: null }],
      open_interrupts: [{ value: { question: 'go?' }, run_id: run, namespace: [] }],
      active_run_id: null,
      lease: null,
    })
    expect(detail.log.head).toBeGreaterThan(3)
    expect(detail.log.first_retained).toBe(1)

    const { interrupt_id } = detail.open_interrupts[0]
    const answered = await post(host, '/threads/t/answers', { answers: { [interrupt_id]: 'yes' } }, ANN)
    expect(answered.status).toBe(200)
    await eventually(async () => (await thread.get('')).body.status === 'idle')
    expect((await thread.get('/state')).body.values.notes).toEqual(['private', 'answer: yes', 'after'])
    const { body: after } = await get(host, '/threads/t', ANN)
    expect(after.runs.map((one: { run_id: string }) => one.run_id)).toEqual([answered.body.run_id, run])
    expect(after.open_interrupts).toEqual([])
  })

  test('starts a run of any agent, on a thread that is made for it, and says what is wrong with one', async () => {
    const { host } = await serve()
    const body = { assistant_id: 'steps', input: { notes: ['in'] } }
    const started = await post(host, '/threads/made/runs', body, ANN)
    expect(started).toMatchObject({ status: 200, body: { run_id: expect.any(String) } })
    const thread = host.thread('made', ANN)
    await eventually(async () => (await thread.get('')).body.status === 'idle')
    expect((await thread.get('/state')).body.values.notes).toEqual(['in', 'one', 'two', 'three'])
    const talk = { messages: [{ role: 'user', content: 'Where is my parcel?' }], notes: [] }
    await post(host, '/threads/titled/runs', { assistant_id: 'steps', input: talk }, ANN)
    const { body: titled } = await request(host.origin, 'GET', '/threads', undefined, ANN)
    expect(titled).toContainEqual(expect.objectContaining({ id: 'titled', title: 'Where is my parcel?' }))
    for (const [wrong, message] of [
      [{}, 'input: expected a value.'],
      [{ input: {}, assistant_id: '' }, 'assistant_id: expected a string that is not empty.'],
      [{ input: {}, config: [] }, 'config: expected an object.'],
    ] as const)
      expect(await post(host, '/threads/made/runs', wrong, ANN)).toMatchObject({
        status: 400,
        body: { message },
      })
    expect((await post(host, '/threads/made/runs', body, as('bob'))).status).toBe(404)
    expect((await get(host, '/threads/made', ANN)).body.runs).toHaveLength(1)
  })

  test('stops runs, forks and answers before and after the nodes that a request names', async () => {
    const { host } = await serve()
    const thread = host.thread('t', ANN)
    const stoppedAt = async (next: readonly string[]) => {
      await eventually(async () => (await thread.get('')).body.status === 'interrupted')
      expect((await thread.get('/state')).body.next).toEqual(next)
    }
    const run = { assistant_id: 'steps', input: { notes: [] } }
    expect((await post(host, '/threads/t/runs', { ...run, interrupt_before: ['two'] }, ANN)).status).toBe(200)
    await stoppedAt(['two'])
    const goOn = { input: null, interrupt_before: '*' }
    expect((await post(host, '/threads/t/runs', goOn, ANN)).status).toBe(200)
    await stoppedAt(['three'])
    const { body: checkpoints } = await get(host, '/threads/t/checkpoints', ANN)
    const atOne = checkpoints.find(({ next }: { next: string[] }) => next[0] === 'one')
    const fork = { checkpoint_id: atOne.checkpoint_id, interrupt_after: ['one'] }
    expect((await post(host, '/threads/t/forks', fork, ANN)).status).toBe(200)
    await stoppedAt(['two'])
    expect((await get(host, '/threads/t', ANN)).body.runs).toHaveLength(3)

    const asked = host.thread('asked', ANN)
    await post(host, '/threads/asked/runs', { assistant_id: 'ask', input: { notes: [] } }, ANN)
    await eventually(async () => (await asked.get('')).body.status === 'interrupted')
    const [{ interrupt_id }] = (await get(host, '/threads/asked', ANN)).body.open_interrupts
    const answers = { answers: { [interrupt_id]: 'yes' }, interrupt_after: ['ask'] }
    expect((await post(host, '/threads/asked/answers', answers, ANN)).status).toBe(200)
    await eventually(async () => (await get(host, '/threads/asked', ANN)).body.interrupts === 0)
    await eventually(async () => (await asked.get('')).body.status === 'interrupted')
    expect((await asked.get('/state')).body).toMatchObject({ values: { notes: ['answer: yes'] } })

    for (const [path, wrong] of [
      ['runs', { input: {}, interrupt_before: 'two' }],
      ['forks', { checkpoint_id: 'c', interrupt_before: [2] }],
      ['answers', { answers: { a: 1 }, interrupt_before: {} }],
    ] as const)
      expect(await post(host, `/threads/t/${path}`, wrong, ANN)).toMatchObject({
        status: 400,
        body: { message: 'interrupt_before: expected "*" or a list of node names.' },
      })
  })

  test('tells the prices of models, with the cached tokens at the price of the input where they have none', async () => {
    const { host } = await serve({ devtools: { prices: { small: { input: 1, output: 4, cacheRead: 0.1 } } } })
    expect((await get(host, '/server', ANN)).body.prices).toEqual({
      small: { input: 1, output: 4, cache_read: 0.1, cache_write: 1 },
    })
    const wrong = { agents: {}, devtools: { prices: { small: { input: 1 } } } }
    expect(() => createAgentServer(wrong as never)).toThrow('devtools.prices.small.output is missing')
  })

  test('asks for the permission to run the agent that a run names', async () => {
    const authorize: Authorize = (_principal, _permission, resource) => resource?.assistantId !== 'slow'
    const { host } = await serve({ authorize })
    const refused = await post(host, '/threads/t/runs', { assistant_id: 'slow', input: {} }, ANN)
    expect(refused.status).toBe(403)
    expect((await get(host, '/threads', ANN)).body.total).toBe(0)
  })

  test('gives the checkpoints without their values, each state by its id, and forks from one', async () => {
    const { host } = await serve()
    const thread = host.thread('t', ANN)
    await thread.start({ notes: ['in'] }, { assistant_id: 'steps' })
    await eventually(async () => (await thread.get('')).body.status === 'idle')
    const { body: checkpoints } = await get(host, '/threads/t/checkpoints', ANN)
    expect(checkpoints.map(({ step, next }: { step: number; next: string[] }) => [step, ...next])).toEqual([
      [3],
      [2, 'three'],
      [1, 'two'],
      [0, 'one'],
      [-1, '__start__'],
    ])
    expect(checkpoints[0]).not.toHaveProperty('values')
    const [, , atTwo, atOne] = checkpoints
    expect(atTwo.parent_id).toBe(atOne.checkpoint_id)
    const { body: state } = await get(host, `/threads/t/checkpoints/${atTwo.checkpoint_id}`, ANN)
    expect(state).toMatchObject({ step: 1, values: { notes: ['in', 'one'] } })
    const { body: older } = await get(
      host,
      `/threads/t/checkpoints?limit=2&before=${atTwo.checkpoint_id}`,
      ANN,
    )
    expect(older.map(({ step }: { step: number }) => step)).toEqual([0, -1])

    const fork = { checkpoint_id: atTwo.checkpoint_id, input: null }
    const { status, body } = await post(host, '/threads/t/forks', fork, ANN)
    expect(status).toBe(200)
    await eventually(async () => (await thread.get('')).body.status === 'idle')
    const { body: detail } = await get(host, '/threads/t', ANN)
    expect(detail.runs[0]).toMatchObject({
      run_id: body.run_id,
      status: 'success',
      checkpoint_id: atTwo.checkpoint_id,
    })
    expect((await get(host, '/threads/t/checkpoints/nothing', ANN)).status).toBe(404)
    expect(await post(host, '/threads/t/forks', { checkpoint_id: 'nothing' }, ANN)).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
  })

  test('shows who holds a thread and which runs wait, and stops a run', async () => {
    const { host, finish } = await serve()
    const thread = host.thread('t', ANN)
    const first = await thread.start({}, { assistant_id: 'slow' })
    const second = await thread.start({}, { assistant_id: 'slow' })
    const { body: work } = await get(host, '/work', ANN)
    expect(work).toMatchObject({
      held: [{ thread_id: 't', run_id: first, lease: { holder: expect.any(String), is_here: true } }],
      queued: [{ thread_id: 't', run_id: second, position: 1, created_at: expect.any(Number) }],
    })
    expect(work.held[0].lease.expires_at).toBeGreaterThan(work.now)
    const { body: detail } = await get(host, '/threads/t', ANN)
    expect(detail.lease).toEqual(work.held[0].lease)
    expect(detail.runs.map(({ status }: { status: string }) => status)).toEqual(['pending', 'running'])
    expect((await post(host, `/threads/t/runs/${second}/cancel`, {}, ANN)).status).toBe(202)
    await eventually(async () => (await get(host, '/work', ANN)).body.queued.length === 0)
    finish()
    await eventually(async () => (await get(host, '/work', ANN)).body.held.length === 0)
  })

  test('streams every event of the log after a sequence number, in the frames of the protocol', async () => {
    const { host, emit, finish } = await serve()
    const thread = host.thread('t', ANN)
    await thread.start({}, { assistant_id: 'slow' })
    const response = await fetch(`${host.origin}${API}/threads/t/log?after=1`, { headers: ANN })
    for (const method of ['values', 'updates', 'messages', 'tools', 'tasks', 'custom'] as const)
      emit({ method, namespace: ['sub:1'], data: { name: 'x', event: method } } as unknown as AgentEvent)
    finish()
    const events: WireEvent[] = []
    for await (const { frames } of readFrames(response.body!)) {
      events.push(...frames.map(({ data }) => JSON.parse(data)))
      if (events.length >= 7) break
    }
    expect(events.map(({ seq, method }) => [seq, method])).toEqual([
      [2, 'values'],
      [3, 'updates'],
      [4, 'messages'],
      [5, 'tools'],
      [6, 'tasks'],
      [7, 'custom'],
      [8, 'lifecycle'],
    ])
  })

  test('pages, filters and searches threads', async () => {
    const { host } = await serve()
    const { engine } = host.server as unknown as { engine: import('../../src/index.ts').AgentEngine }
    for (let i = 0; i < 7; i++)
      await engine.createThread({
        threadId: `thread-${i}`,
        principal: { id: 'ann' },
        assistantId: 'ask',
        metadata: { title: `Talk ${i}`, topic: i === 3 ? 'Whales' : 'birds' },
      })
    const titles = async (query: string) => {
      const { body } = await get(host, `/threads?${query}`, ANN)
      return [body.total, body.threads.map(({ title }: { title: string }) => title)]
    }
    expect(await titles('limit=2')).toEqual([7, ['Talk 6', 'Talk 5']])
    expect(await titles('limit=2&offset=6')).toEqual([7, ['Talk 0']])
    expect(await titles('search=whales')).toEqual([1, ['Talk 3']])
    expect(await titles('search=TALK&limit=2&offset=2')).toEqual([7, ['Talk 4', 'Talk 3']])
    expect(await titles('search=thread-5')).toEqual([1, ['Talk 5']])
    expect(await titles('status=idle&limit=1')).toEqual([7, ['Talk 6']])
    expect(await titles('status=busy')).toEqual([0, []])
    expect(await get(host, '/threads?status=odd', ANN)).toMatchObject({ status: 400 })
    expect(await get(host, '/threads?limit=9999', ANN)).toMatchObject({ status: 400 })
  })

  test('says what the store holds, to operators only', async () => {
    const { host } = await serve({ devtools: { isOperator: () => true } })
    const thread = host.thread('t', ANN)
    await thread.start({}, { assistant_id: 'ask' })
    await eventually(async () => (await thread.get('')).body.status === 'interrupted')
    const { body: server } = await get(host, '/server', ANN)
    expect(server).toMatchObject({
      principal: 'ann',
      agents: ['ask', 'steps', 'slow', 'weather'],
      store: { name },
      threads: { all: 1 },
      load: { queued: 0, subscribers: expect.any(Number) },
    })
    const { body: store } = await get(host, '/store', ANN)
    // The thread and its run.
    expect(store).toMatchObject({ name, counts: { partitions: 1, documents: 2 } })

    const { host: other } = await serve()
    expect((await get(other, '/server', ANN)).body.load).toBe(null)
    expect((await get(other, '/store', ANN)).status).toBe(403)
  })

  test('shows a second principal nothing of the first', async () => {
    const { host } = await serve()
    const thread = host.thread('secret', ANN)
    const run = await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
    await eventually(async () => (await thread.get('')).body.status === 'interrupted')
    const { body: detail } = await get(host, '/threads/secret', ANN)
    const { body: checkpoints } = await get(host, '/threads/secret/checkpoints', ANN)
    const { checkpoint_id } = checkpoints[0]
    const [{ interrupt_id }] = detail.open_interrupts
    const reads = [
      ...['', '/log?after=0', '/checkpoints', `/checkpoints/${checkpoint_id}`].map(
        (rest) => `/threads/ID${rest}`,
      ),
      ...['/threads', '/threads?search=ID', '/threads?search=secret', '/threads?status=interrupted'],
      ...['/work', '/server'],
    ]
    const writes: readonly [string, unknown][] = [
      ['/threads/ID/answers', { answers: { [interrupt_id]: 'mine' } }],
      ['/threads/ID/forks', { checkpoint_id, input: null }],
      [`/threads/ID/runs/${run}/cancel`, {}],
    ]
    for (const path of reads) {
      const theirs = await get(host, path.replace('ID', 'secret'), as('bob'))
      const unknown = await get(host, path.replace('ID', 'nobody'), as('bob'))
      expect([path, theirs.status]).toEqual([path, unknown.status])
      const text = JSON.stringify(theirs.body).replaceAll('search=secret', '')
      expect([path, text.includes('private') || text.includes(run)]).toEqual([path, false])
      if (path.startsWith('/threads/')) expect(theirs.status).toBe(404)
      else expect(theirs.body.total ?? theirs.body.threads?.all ?? theirs.body.held?.length).toBe(0)
      expect((await get(host, path.replace('ID', 'secret'))).status).toBe(401)
    }
    for (const [path, body] of writes) {
      expect((await post(host, path.replace('ID', 'secret'), body, as('bob'))).status).toBe(404)
      expect((await post(host, path.replace('ID', 'secret'), body)).status).toBe(401)
    }
    expect((await get(host, '/threads/secret', ANN)).body).toMatchObject({
      open_interrupts: detail.open_interrupts,
      runs: detail.runs,
    })
  })

  test('does what authorize permits, and no more', async () => {
    const asked: unknown[] = []
    const { host } = await serve({
      authorize: (_, action, resource) => {
        asked.push([action, resource])
        return !action.startsWith('runs:') || resource.threadId !== 'closed'
      },
    })
    await host.thread('open', ANN).start({ notes: [] }, { assistant_id: 'ask' })
    asked.length = 0
    const body = { answers: { some: 1 } }
    expect((await post(host, '/threads/closed/answers', body, ANN)).status).toBe(403)
    expect((await post(host, '/threads/closed/forks', { checkpoint_id: 'c' }, ANN)).status).toBe(403)
    expect((await post(host, '/threads/closed/runs/r/cancel', {}, ANN)).status).toBe(403)
    expect((await get(host, '/threads/open', ANN)).status).toBe(200)
    expect((await request(host.origin, 'GET', '/devtools/api/threads', undefined, ANN)).status).toBe(200)
    expect(asked).toEqual([
      ['runs:create', { threadId: 'closed' }],
      ['runs:create', { threadId: 'closed' }],
      ['runs:cancel', { threadId: 'closed' }],
      ['threads:read', { threadId: 'open' }],
      ['threads:list', {}],
    ])
  })

  test('draws the graph of an agent, has none of a function, and asks authorize', async () => {
    const asked: unknown[] = []
    const { host } = await serve({
      authorize: (_, action, resource) => {
        if (action !== 'assistants:read') return true
        asked.push(resource)
        return resource.assistantId !== 'ask'
      },
    })
    const steps = await get(host, '/agents/steps/graph', ANN)
    expect(steps.body.graph.nodes.map(({ id }: { readonly id: string }) => id)).toEqual([
      '__start__',
      'one',
      'two',
      'three',
      '__end__',
    ])
    expect(steps.body.graph.edges).toContainEqual({
      source: 'one',
      target: 'two',
      label: null,
      conditional: false,
    })
    expect((await get(host, '/agents/slow/graph', ANN)).body).toEqual({ graph: null })
    expect((await get(host, '/agents/none/graph', ANN)).status).toBe(404)
    expect((await get(host, '/agents/ask/graph', ANN)).status).toBe(403)
    expect(asked).toEqual(['steps', 'slow', 'none', 'ask'].map((assistantId) => ({ assistantId })))
    expect((await get(host, '/agents/steps/graph')).status).toBe(401)
  })

  test('gives the schema of an input, null where an agent has none, and asks authorize', async () => {
    const { host } = await serve({ authorize: (_, action) => action !== 'assistants:read' })
    expect((await get(host, '/agents/slow/input', ANN)).status).toBe(403)
    const { host: open } = await serve()
    const { body } = await get(open, '/agents/weather/input', ANN)
    expect(body.schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] })
    expect((await get(open, '/agents/slow/input', ANN)).body).toEqual({ schema: null })
    expect((await get(open, '/agents/none/input', ANN)).status).toBe(404)
  })
})
