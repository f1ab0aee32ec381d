import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { defineAgent, type ServerEvent } from '../../../src/index.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { approval } from '../../fixtures/graphs.ts'
import { BACKENDS, postgres } from '../../kit/backends.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { listen } from '../../kit/listen.ts'
import { eventually } from '../../kit/wait.ts'

const echo = defineAgent({
  run: async ({ input, signal }) => {
    const { waitMs = 0, fail } = (input ?? {}) as { waitMs?: number; fail?: string }
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    if (fail) throw new TypeError(fail)
    return { said: input }
  },
})

const agents = () => ({ echo, ask: langgraph(approval()) })
const options = { webhooks: { allowLoopback: true } }
const LONG = 60_000

async function serve(more: object = {}) {
  const host = await serveAgents({ agents: agents(), platform: options, ...more })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { ...host, client }
}

/** A receiver of webhooks that answers with these statuses, and then with 200. */
async function receiver(...statuses: number[]) {
  const bodies: Json[] = []
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.on('data', (part) => {
      text += part
    })
    incoming.on('end', () => {
      const status = statuses.shift() ?? 200
      if (status === 200) bodies.push(JSON.parse(text))
      response.writeHead(status).end()
    })
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${port}/hook`, bodies }
}

describe('a run on a thread', () => {
  test('is created, joined, shown and listed', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    let told: unknown
    const run = await client.runs.create(thread_id, 'echo', {
      input: { a: 1 },
      metadata: { topic: 'x' },
      config: { tags: ['t'], configurable: { model: 'm' } },
      onRunCreated: (ids) => {
        told = ids
      },
    })
    expect(told).toEqual({ run_id: run.run_id, thread_id })
    expect(run).toMatchObject({ thread_id, metadata: { topic: 'x' }, multitask_strategy: 'enqueue' })
    expect(run).toMatchObject({ kwargs: { input: { a: 1 }, config: { configurable: { model: 'm' } } } })
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ said: { a: 1 } })
    const shown = await client.runs.get(thread_id, run.run_id)
    expect(shown).toMatchObject({ run_id: run.run_id, status: 'success', created_at: run.created_at })
    expect(await client.runs.list(thread_id)).toEqual([shown])
    const thread = await client.threads.get(thread_id)
    expect(thread).toMatchObject({ status: 'idle', metadata: { graph_id: 'echo' } })
  })

  test('is waited for, and tells what it failed with', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    expect(await client.runs.wait(thread_id, 'echo', { input: { a: 1 } })).toMatchObject({ said: { a: 1 } })
    const failing = { input: { fail: 'No.' } }
    await expect(client.runs.wait(thread_id, 'echo', failing)).rejects.toThrow('TypeError: No.')
    expect(await client.runs.wait(thread_id, 'echo', { ...failing, raiseError: false })).toEqual({
      __error__: { error: 'TypeError', message: 'No.' },
    })
    expect((await client.runs.list(thread_id)).map(({ status }) => status)).toEqual([
      'error',
      'error',
      'success',
    ])
  })

  test('keeps its connection alive with a newline every second', async () => {
    const { origin, client } = await serve()
    const { thread_id } = await client.threads.create()
    const response = await fetch(`${origin}/threads/${thread_id}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'echo', input: { waitMs: 2_300 } }),
    })
    expect(response.headers.get('content-location')).toMatch(`/threads/${thread_id}/runs/`)
    expect(await response.text()).toMatch(/^\n{1,3}\{.*"said":/)
  })

  test('stops at an interrupt as a success, which the REST or the protocol answers', async () => {
    const { client, thread } = await serve()
    const { thread_id } = await client.threads.create()
    const waiting = (await client.runs.wait(thread_id, 'ask', { input: { notes: ['a'] } })) as Json
    expect(waiting.__interrupt__).toMatchObject([{ id: expect.any(String) }])
    const [run] = await client.runs.list(thread_id)
    expect(run?.status).toBe('success')
    expect((await client.threads.get(thread_id)).status).toBe('interrupted')
    const asked = waiting.__interrupt__[0].id as string
    await expect(
      client.runs.wait(thread_id, 'ask', { command: { resume: { ['0'.repeat(32)]: true } } }),
    ).rejects.toThrow('HTTP 400')
    await client.runs.wait(thread_id, 'ask', { command: { resume: 'yes' } })
    expect((await client.threads.get(thread_id)).status).toBe('idle')
    await expect(client.runs.wait(thread_id, 'ask', { command: { resume: 'yes' } })).rejects.toThrow(
      'HTTP 400',
    )

    const other = thread('over-both')
    await other.start({ notes: ['b'] }, { assistant_id: 'ask' })
    await other.transcript()
    const open = (await client.threads.getState('over-both')).tasks.flatMap(({ interrupts }) => interrupts)
    expect(open).toHaveLength(1)
    expect(open[0]!.id).not.toBe(asked)
    await client.runs.wait('over-both', 'ask', { command: { resume: { [open[0]!.id!]: 'yes' } } })
    expect((await client.threads.get('over-both')).status).toBe('idle')
    const runs = await client.runs.list('over-both')
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success'])

    await client.runs.wait('answered', 'ask', { input: { notes: ['c'] }, ifNotExists: 'create' })
    const [question] = (await client.threads.getState('answered')).tasks.flatMap(
      ({ interrupts }) => interrupts,
    )
    await thread('answered').ok('input.respond', { interrupt_id: question!.id, response: 'yes' })
    await eventually(async () => (await client.threads.get('answered')).status === 'idle')
  })

  test('takes a new input as such where a question is open', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    await client.runs.wait(thread_id, 'ask', { input: { notes: ['a'] } })
    const again = (await client.runs.wait(thread_id, 'ask', { input: { notes: ['b'] } })) as Json
    expect(again.__interrupt__).toHaveLength(1)
    expect(again.notes).toEqual(expect.arrayContaining(['a', 'b']))
  })

  test('starts after a time, during which the thread is busy, or is cancelled before', async () => {
    const { client, origin } = await serve()
    const { thread_id } = await client.threads.create()
    const run = await client.runs.create(thread_id, 'echo', { input: {}, afterSeconds: 60 })
    expect(run.status).toBe('pending')
    expect((await client.threads.get(thread_id)).status).toBe('busy')
    const written = await request(origin, 'POST', `/threads/${thread_id}/state`, { values: { a: 1 } })
    expect(written.status).toBe(409)
    await client.runs.cancel(thread_id, run.run_id, true)
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe('interrupted')
    expect((await client.threads.get(thread_id)).status).toBe('idle')
    expect(await client.runs.join(thread_id, run.run_id)).toBeNull()
    const waiting = client.runs.wait(thread_id, 'echo', { input: {}, afterSeconds: 60 })
    await eventually(async () => (await client.runs.list(thread_id))[0]?.status === 'pending')
    await client.runs.cancelMany({ threadId: thread_id, status: 'pending' })
    expect(await waiting).toEqual({})
    const soon = await client.runs.create(thread_id, 'echo', { input: { b: 2 }, afterSeconds: 0.2 })
    expect(await client.runs.join(thread_id, soon.run_id)).toMatchObject({ said: { b: 2 } })
  })

  test('is refused, interrupts, undoes or waits for the one before it', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    const long = { input: { waitMs: LONG } }
    const first = await client.runs.create(thread_id, 'echo', long)
    await expect(
      client.runs.create(thread_id, 'echo', { input: {}, multitaskStrategy: 'reject' }),
    ).rejects.toThrow(/HTTP 409.*Thread is already running a task/)
    const second = await client.runs.create(thread_id, 'echo', { ...long, multitaskStrategy: 'interrupt' })
    await client.runs.join(thread_id, first.run_id)
    expect((await client.runs.get(thread_id, first.run_id)).status).toBe('interrupted')
    const third = await client.runs.create(thread_id, 'echo', {
      input: { n: 3 },
      multitaskStrategy: 'rollback',
    })
    expect(await client.runs.join(thread_id, third.run_id)).toMatchObject({ said: { n: 3 } })
    await expect(client.runs.get(thread_id, second.run_id)).rejects.toThrow('HTTP 404')
  })

  test('is cancelled by its client going away, where it asked for that', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    const leave = new AbortController()
    const given = { input: { waitMs: LONG }, onDisconnect: 'cancel' as const, signal: leave.signal }
    const waiting = client.runs.wait(thread_id, 'echo', given)
    const runs = () => client.runs.list(thread_id)
    await eventually(async () => (await runs())[0]?.status === 'running')
    leave.abort()
    await expect(waiting).rejects.toThrow()
    await eventually(async () => (await runs())[0]?.status === 'interrupted')
  })

  test('is deleted with its record', async () => {
    const { client } = await serve()
    const { thread_id } = await client.threads.create()
    const run = await client.runs.create(thread_id, 'echo', { input: { waitMs: LONG } })
    await client.runs.delete(thread_id, run.run_id)
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toThrow('HTTP 404')
    await expect(client.runs.delete(thread_id, run.run_id)).rejects.toThrow('HTTP 404')
  })

  test('took too long for the server: it is a timeout', async () => {
    const { client } = await serve({ limits: { runMs: 100 }, onError: () => {} })
    const { thread_id } = await client.threads.create()
    const run = await client.runs.create(thread_id, 'echo', { input: { waitMs: LONG } })
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({
      __error__: { error: 'TimeoutError' },
    })
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe('timeout')
  })
})

describe('lists and cancels', () => {
  test('pages have their headers, and runs are found by status and metadata', async () => {
    const { client, origin } = await serve()
    const { thread_id } = await client.threads.create()
    for (const n of [1, 2, 3]) await client.runs.wait(thread_id, 'echo', { input: {}, metadata: { n } })
    await client.runs.wait(thread_id, 'echo', { input: { fail: 'x' }, raiseError: false })
    const list = (query: string) => request(origin, 'GET', `/threads/${thread_id}/runs?${query}`)
    const page = await list('limit=2&offset=1')
    expect(page.body).toHaveLength(2)
    expect([page.headers.get('x-pagination-total'), page.headers.get('x-pagination-next')]).toEqual([
      '4',
      '3',
    ])
    expect((await list('status=error')).body).toHaveLength(1)
    expect((await list(`metadata=${encodeURIComponent('{"n":2}')}`)).body).toHaveLength(1)
    expect((await list('limit=1&select=run_id')).body).toEqual([{ run_id: expect.any(String) }])
    for (const bad of ['status=nope', 'metadata=1', 'limit=x', 'offset=-1'])
      expect([bad, (await list(bad)).status]).toEqual([bad, 400])
  })

  test('many runs are cancelled at once', async () => {
    const { client, origin } = await serve()
    const [a, b] = [await client.threads.create(), await client.threads.create()]
    const long = { input: { waitMs: LONG } }
    const runs = [
      await client.runs.create(a.thread_id, 'echo', long),
      await client.runs.create(a.thread_id, 'echo', long),
      await client.runs.create(b.thread_id, 'echo', long),
    ] as const
    const statuses = () =>
      Promise.all(runs.map(async (run) => (await client.runs.get(run.thread_id, run.run_id)).status))
    await client.runs.cancelMany({ status: 'pending' })
    expect(await statuses()).toEqual(['running', 'interrupted', 'running'])
    await client.runs.cancelMany({ threadId: a.thread_id, runIds: [runs[0].run_id] })
    await eventually(async () => (await statuses()).join() === 'interrupted,interrupted,running')
    await client.runs.cancelMany({ status: 'all', action: 'rollback' })
    await eventually(async () => (await client.runs.list(b.thread_id)).length === 0)
    for (const body of [{}, { run_ids: ['x'] }, { status: 'some' }])
      expect((await request(origin, 'POST', '/runs/cancel', body)).status).toBe(400)
    for (const body of [
      { thread_id: 'none', status: 'all' },
      { thread_id: a.thread_id, run_ids: ['x'] },
    ])
      expect((await request(origin, 'POST', '/runs/cancel', body)).status).toBe(404)
  })
})

describe('a run without a thread', () => {
  const threads = (client: Client) => client.threads.search({ limit: 100 })

  test('leaves nothing behind, unless it is asked to', async () => {
    const { client, origin } = await serve()
    expect(await client.runs.wait(null, 'echo', { input: { a: 1 } })).toMatchObject({ said: { a: 1 } })
    const created = await request(origin, 'POST', '/runs', { assistant_id: 'echo', input: {} })
    expect(created.headers.get('content-location')).toBe(`/runs/${created.body.run_id}`)
    const batch = await client.runs.createBatch([
      { assistantId: 'echo', input: { n: 1 } },
      { assistantId: 'ask', input: { notes: [] } },
    ] as never)
    expect(batch).toHaveLength(2)
    await eventually(async () => (await threads(client)).length === 0)
    const kept = await client.runs.create(null, 'echo', { input: {}, onCompletion: 'keep' as never })
    await client.runs.join(kept.thread_id, kept.run_id)
    expect(await threads(client)).toHaveLength(1)
  })

  test('is started in a batch only where all of the batch may be', async () => {
    const { client, origin } = await serve()
    const batch = [{ assistant_id: 'echo', input: {}, on_completion: 'keep' }, { assistant_id: 'nobody' }]
    expect((await request(origin, 'POST', '/runs/batch', batch)).status).toBe(404)
    expect(await threads(client)).toEqual([])
  })
})

describe('what is refused', () => {
  test('unknown assistants and threads have the sentences that clients look for, and change nothing', async () => {
    const { client, origin } = await serve()
    const { thread_id } = await client.threads.create()
    for (const path of ['', '/wait']) {
      const answer = await request(origin, 'POST', `/threads/${thread_id}/runs${path}`, { assistant_id: 'x' })
      expect(answer.status).toBe(404)
      expect(answer.body.message).toMatch(
        /^No assistant found for "x"\. Make sure the assistant ID is for a valid assistant or a valid graph ID\. This server has: "/,
      )
    }
    await expect(client.runs.create('none', 'echo', {})).rejects.toThrow('Thread with ID none not found')
    await expect(client.runs.list('none')).rejects.toThrow('HTTP 404')
    await expect(client.runs.get(thread_id, 'none')).rejects.toThrow('Run not found')
    await expect(client.runs.join(thread_id, 'none')).rejects.toThrow('Run not found')
    expect(await client.threads.search()).toHaveLength(1)
    expect(await client.runs.list(thread_id)).toEqual([])
  })

  test.each([
    [{}, 'assistant_id'],
    [{ assistant_id: 7 }, 'assistant_id'],
    [{ assistant_id: 'echo', stream_mode: 'all' }, 'stream_mode'],
    [{ assistant_id: 'echo', after_seconds: -1 }, 'after_seconds'],
    [{ assistant_id: 'echo', after_seconds: 1e12 }, 'after_seconds'],
    [{ assistant_id: 'echo', interrupt_before: 7 }, 'interrupt_before'],
    [{ assistant_id: 'echo', command: [] }, 'command'],
    [{ assistant_id: 'echo', command: { update: [['a']] } }, 'update'],
    [{ assistant_id: 'echo', multitask_strategy: 'best' }, 'multitask_strategy'],
    [{ assistant_id: 'echo', config: { recursion_limit: 0 } }, 'config.recursion_limit'],
    [{ assistant_id: 'echo', webhook: 'http://169.254.169.254/' }, 'webhook'],
    [{ assistant_id: 'echo', webhook: 'file:///etc/passwd' }, 'webhook'],
    [
      { assistant_id: 'echo', metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, n])) },
      'metadata',
    ],
    ['[]', ''],
    [
      '{"assistant_id":"echo","config":{"configurable":{"__proto__":{"polluted":1}},"tags":{}}}',
      'config.tags',
    ],
  ])('a body is checked before anything changes, %#', async (body, field) => {
    const { client, origin } = await serve()
    const { thread_id } = await client.threads.create()
    for (const path of [
      `/threads/${thread_id}/runs`,
      `/threads/${thread_id}/runs/wait`,
      '/runs',
      '/runs/wait',
    ]) {
      const answer = await request(origin, 'POST', path, body)
      expect(answer.status).toBe(400)
      expect(answer.body.message).toContain(field)
    }
    expect(await client.runs.list(thread_id)).toEqual([])
    expect(await client.threads.search()).toHaveLength(1)
  })
})

test('graphs see the headers of the request but no secrets, and the user', async () => {
  let seen: Json
  const look = defineAgent({
    run: async ({ config }) => {
      seen = config.configurable
      return {}
    },
  })
  const { origin } = await serve({
    agents: { look },
    authenticate: () => ({ id: 'ann', permissions: ['all'] }),
  })
  const secrets = {
    'x-api-key': 's',
    'x-tenant-id': 's',
    'x-service-key': 's',
    authorization: 's',
    cookie: 's',
  }
  const headers = { 'x-trace': 't', ...secrets }
  const config = { configurable: { mine: 1, langgraph_auth_user_id: 'bob' } }
  const answer = await request(
    origin,
    'POST',
    '/runs/wait',
    { assistant_id: 'look', input: {}, config },
    headers,
  )
  expect(answer.body).toEqual({})
  expect(seen).toMatchObject({
    mine: 1,
    'x-trace': 't',
    graph_id: 'look',
    langgraph_auth_user_id: 'ann',
    langgraph_auth_permissions: ['all'],
  })
  expect(Object.values(seen)).not.toContain('s')
})

describe('a webhook', () => {
  test('is told of the end of a run, also by a receiver that fails at first, and after the thread has gone', async () => {
    const { client } = await serve()
    const { url, bodies } = await receiver(500)
    const { thread_id } = await client.threads.create()
    await client.runs.wait(thread_id, 'echo', { input: { a: 1 }, webhook: url })
    await eventually(() => bodies.length === 1)
    expect(bodies[0]).toMatchObject({
      thread_id,
      status: 'success',
      values: { said: { a: 1 } },
      run_started_at: expect.any(String),
      run_ended_at: expect.any(String),
      webhook_sent_at: expect.any(String),
    })
    await client.runs.wait(null, 'echo', { input: { fail: 'x' }, webhook: url, raiseError: false })
    await eventually(() => bodies.length === 2)
    expect(bodies[1]).toMatchObject({ status: 'error', error: { error: 'TypeError', message: 'x' } })
    await eventually(async () => (await client.threads.search()).length === 1)
  })

  test('that its receiver refuses is told to the operator once, of its run, and one in a network that is allowed is called', async () => {
    const told: ServerEvent[] = []
    const platform = { webhooks: { allow: ['127.0.0.1'] } }
    const { client, errors } = await serve({ platform, observe: (event: ServerEvent) => told.push(event) })
    const [good, bad] = [await receiver(), await receiver(410)]
    const { thread_id } = await client.threads.create()
    await client.runs.wait(thread_id, 'echo', { input: { a: 1 }, webhook: good.url })
    await eventually(() => good.bodies.length === 1)
    const run = await client.runs.create(thread_id, 'echo', { input: { a: 1 }, webhook: bad.url })
    const undelivered = () => told.filter(({ type }) => type === 'delivery.failed')
    await eventually(() => undelivered().length > 0 && errors.length > 0)
    const error = { code: 'job_given_up', cause: { code: 'rejected', status: 410 } }
    expect(errors.splice(0)).toMatchObject([error])
    const { host } = new URL(bad.url)
    expect(undelivered()).toMatchObject([
      { kind: 'run-webhook-delivery', threadId: thread_id, runId: run.run_id, host, failures: 1, error },
    ])
  })

  test('that is a path is answered in the process where the host says how, again where it fails at first', async () => {
    const told: Json[] = []
    const statuses = [500]
    const local = async (request: Request): Promise<Response> => {
      const { pathname, search } = new URL(request.url)
      told.push({ method: request.method, place: pathname + search, body: await request.json() })
      return new Response('thanks', { status: statuses.shift() ?? 200 })
    }
    const { client } = await serve({ platform: { webhooks: { local } } })
    const { thread_id } = await client.threads.create()
    await client.runs.wait(thread_id, 'echo', { input: { a: 1 }, webhook: '/done?by=me' })
    await eventually(() => told.length === 2)
    const body = { thread_id, status: 'success', values: { said: { a: 1 } } }
    for (const one of told) expect(one).toMatchObject({ method: 'POST', place: '/done?by=me', body })
    for (const webhook of ['//127.0.0.1/done', '/\\127.0.0.1/done', 'http://127.0.0.1/done'])
      await expect(client.runs.create(thread_id, 'echo', { input: {}, webhook })).rejects.toThrow(/webhook/)
  })
})

test('a cancel of an unknown run says so in the words that clients look for', async () => {
  const { client } = await serve()
  const { thread_id } = await client.threads.create()
  await expect(client.runs.cancel(thread_id, crypto.randomUUID())).rejects.toThrow(/404.*Run not found/)
})

describe.each(BACKENDS)('over $name', ({ installed, create }) => {
  test.skipIf(!installed())(
    'runs, their details and their webhooks outlive the process',
    async () => {
      const { url, remove } = await create()
      onTestFinished(remove)
      const { url: hook, bodies } = await receiver()
      const engine = { leaseTtlMs: 600, sweepMs: 300 }
      const first = await openStorage(url)
      const one = await serve({ ...first, ...engine })
      const { thread_id } = await one.client.threads.create()
      const run = await one.client.runs.create(thread_id, 'echo', {
        input: { late: 1 },
        afterSeconds: 0.8,
        webhook: hook,
      })
      const stateless = await one.client.runs.create(null, 'echo', { input: {}, afterSeconds: 0.8 })
      await one.server.close()
      await first.close()
      const second = await openStorage(url)
      onTestFinished(() => second.close())
      const two = await serve({ ...second, ...engine })
      expect(await two.client.runs.join(thread_id, run.run_id)).toMatchObject({ said: { late: 1 } })
      expect(await two.client.runs.get(thread_id, run.run_id)).toMatchObject({
        kwargs: { input: { late: 1 } },
      })
      await eventually(() => bodies.length === 1)
      await eventually(async () => (await two.client.threads.search()).length === 1, { timeoutMs: 200_000 })
      await expect(two.client.runs.list(stateless.thread_id)).rejects.toThrow('HTTP 404')
    },
    40_000,
  )
})

test.skipIf(!postgres.installed())(
  'two instances: created on one, joined on and cancelled from the other',
  async () => {
    const { url, remove } = await postgres.create()
    onTestFinished(remove)
    const storages = [await openStorage(url), await openStorage(url)] as const
    onTestFinished(async () => {
      for (const storage of storages) await storage.close()
    })
    const [a, b] = [await serve(storages[0]), await serve(storages[1])]
    const { thread_id } = await a.client.threads.create()
    const run = await a.client.runs.create(thread_id, 'echo', { input: { waitMs: 500 } })
    expect(await b.client.runs.join(thread_id, run.run_id)).toMatchObject({ said: { waitMs: 500 } })
    const long = await a.client.runs.create(thread_id, 'echo', { input: { waitMs: LONG } })
    await b.client.runs.cancel(thread_id, long.run_id, true)
    expect((await a.client.runs.get(thread_id, long.run_id)).status).toBe('interrupted')
  },
)

test('a command on a thread of its own that is refused leaves no thread', async () => {
  const { origin, client } = await serve()
  const ask = (body: object) => request(origin, 'POST', '/runs/wait', { assistant_id: 'ask', ...body })
  const update = { command: { update: { notes: ['mine'] } } }
  expect(await ask({ ...update, checkpoint: { checkpoint_id: 'x' } })).toMatchObject({
    status: 404,
    body: { message: 'Checkpoint "x" not found on this thread.' },
  })
  // The refusal comes once the thread is made.
  expect((await ask({ command: { resume: { ['0'.repeat(32)]: 'yes' } } })).status).toBe(400)
  expect(await client.threads.search()).toEqual([])
})
