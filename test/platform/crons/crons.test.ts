import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import {
  type Authenticate,
  defineAgent,
  memoryStore,
  type OwnEngineOptions,
  type Principal,
  type ServerEvent,
} from '../../../src/index.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { eventually } from '../../kit/wait.ts'

const MINUTE = 60_000

interface Seen {
  readonly input: unknown
  readonly threadId: string
  readonly principal: Principal | null
  readonly configurable: Readonly<Record<string, unknown>>
  readonly metadata: unknown
}

/** A server of an agent that notes its runs, with a clock that the test moves. */
async function serveCrons(options: Partial<OwnEngineOptions> = {}) {
  const seen: Seen[] = []
  const events: ServerEvent[] = []
  let ahead = 0
  const now = () => Date.now() + ahead
  const agent = defineAgent({
    run({ input, thread, principal, config }) {
      const { configurable = {}, metadata } = config as { configurable?: object; metadata?: unknown }
      seen.push({ input, threadId: thread.id, principal, configurable: { ...configurable }, metadata })
      return { done: true }
    },
  })
  const host = await serveAgents({
    agents: { agent, other: agent },
    store: memoryStore({ now }),
    observe: (event) => events.push(event),
    ...options,
  })
  const client = (name = '') =>
    new Client({ apiUrl: host.origin, defaultHeaders: { authorization: `Bearer ${name}` } })
  const due = () => events.filter((event) => event.type === 'cron.due')
  return {
    ...host,
    seen,
    due,
    client: client(),
    as: client,
    now,
    /** Moves the clock, and has the server look at it. */
    async pass(ms: number) {
      ahead += ms
      const crons = client('ann').crons
      const { cron_id } = await crons.create('agent', { schedule: '0 0 1 1 *' })
      await crons.delete(cron_id)
    },
  }
}

const EVERY_MINUTE = '* * * * *'
const post = (origin: string, path: string, body: unknown, headers = {}) =>
  request(origin, 'POST', path, body, headers)

describe('the client of LangGraph', () => {
  test('makes a cron, which is answered with all its fields', async () => {
    const { client, now } = await serveCrons()
    const made = await client.crons.create('agent', {
      schedule: '30 9 * * MON-FRI',
      timezone: 'Europe/Berlin',
      endTime: '2999-01-01T00:00:00Z',
      input: { say: 'hello' },
      config: { tags: ['daily'] },
      metadata: { team: 'a' },
      onRunCompleted: 'keep',
    })
    expect(made).toMatchObject({
      assistant_id: expect.any(String),
      thread_id: null,
      user_id: null,
      payload: { input: { say: 'hello' }, config: { tags: ['daily'] } },
      schedule: '30 9 * * MON-FRI',
      timezone: 'Europe/Berlin',
      end_time: '2999-01-01T00:00:00.000Z',
      on_run_completed: 'keep',
      enabled: true,
      metadata: { team: 'a' },
      last_run: null,
    })
    expect(Math.abs(Date.parse(made.created_at) - now())).toBeLessThan(MINUTE)
    const next = new Date(made.next_run_date)
    const local = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      hour: '2-digit',
      minute: '2-digit',
    })
    expect(local.format(next)).toBe('09:30')
    expect(Object.keys(made)).not.toContain('now')
  })

  test('makes a cron of a thread, changes it, finds it, counts it and deletes it', async () => {
    const { client } = await serveCrons()
    const { thread_id } = await client.threads.create()
    const made = await client.crons.createForThread(thread_id, 'agent', {
      schedule: EVERY_MINUTE,
      metadata: { team: 'a', size: 1 },
      input: { a: 1 },
    })
    expect(made.thread_id).toBe(thread_id)
    await client.crons.create('other', { schedule: '0 0 1 1 *', enabled: false, metadata: { team: 'b' } })

    const changed = await client.crons.update(made.cron_id, {
      schedule: '0 0 1 6 *',
      timezone: 'America/New_York',
      input: { b: 2 },
      metadata: { team: 'c' },
      endTime: '2990-06-01T00:00:00',
    })
    expect(changed).toMatchObject({
      cron_id: made.cron_id,
      schedule: '0 0 1 6 *',
      timezone: 'America/New_York',
      payload: { input: { b: 2 } },
      metadata: { team: 'c', size: 1 },
      end_time: '2990-06-01T00:00:00.000Z',
    })
    expect(changed.next_run_date).toMatch(/-06-01T04:00:00\.000Z$/)
    expect(await client.crons.update(made.cron_id, { endTime: null })).toMatchObject({ end_time: null })

    const found = (query: object) =>
      client.crons.search(query).then((list) => list.map(({ cron_id }) => cron_id))
    expect(await found({ threadId: thread_id })).toEqual([made.cron_id])
    expect(await found({ assistantId: 'agent' })).toEqual([made.cron_id])
    expect(await found({ enabled: true })).toEqual([made.cron_id])
    expect(await found({ metadata: { team: 'c' } })).toEqual([made.cron_id])
    expect(await found({ metadata: { team: 'a' } })).toEqual([])
    const all = await found({})
    expect(all).toHaveLength(2)
    expect(all[1]).toBe(made.cron_id)
    expect(await found({ sortBy: 'next_run_date', sortOrder: 'asc' })).toEqual([made.cron_id, all[0]])
    expect(await found({ limit: 1, offset: 1 })).toEqual([made.cron_id])
    expect(await client.crons.search({ threadId: thread_id, select: ['cron_id', 'enabled'] })).toEqual([
      { cron_id: made.cron_id, enabled: true },
    ])
    expect(await client.crons.count()).toBe(2)
    expect(await client.crons.count({ assistantId: 'other' })).toBe(1)
    expect(await client.crons.count({ threadId: thread_id })).toBe(1)
    expect(await client.crons.count({ metadata: { team: 'b' } })).toBe(1)

    await client.crons.delete(made.cron_id)
    expect(await client.crons.count()).toBe(1)
    await expect(client.crons.delete(made.cron_id)).rejects.toThrow(/HTTP 404.*not found/)
  })

  test('reads how many there are, and where the next page begins', async () => {
    const { client, origin } = await serveCrons()
    for (const _ of [1, 2, 3]) await client.crons.create('agent', { schedule: '0 0 1 1 *' })
    const page = (offset: number) => post(origin, '/runs/crons/search', { limit: 2, offset })
    const first = await page(0)
    expect(first.headers.get('x-pagination-total')).toBe('3')
    expect(first.headers.get('x-pagination-next')).toBe('2')
    const second = await page(2)
    expect(second.headers.get('x-pagination-total')).toBe('3')
    expect(second.headers.get('x-pagination-next')).toBe(null)
    const selected = await post(origin, '/runs/crons/search', { limit: 1, select: ['now'] })
    expect(selected.body).toEqual([{ now: expect.stringMatching(/^\d{4}-/) }])
  })
})

describe('a cron that is due', () => {
  test('starts a run on a thread of its own, which stays where it is asked to', async () => {
    const { client, seen, pass, due } = await serveCrons()
    const cron = await client.crons.create('agent', {
      schedule: EVERY_MINUTE,
      input: { say: 'hello' },
      metadata: { team: 'a' },
      onRunCompleted: 'keep',
    })
    await pass(MINUTE)
    await eventually(() => due().length === 1)
    await eventually(() => seen.length === 1)
    const [found] = (await client.crons.search({})) as Json
    expect(found.last_run).toMatchObject({ due_at: cron.next_run_date, missed: 0, error: null })
    expect(Date.parse(found.next_run_date)).toBe(Date.parse(cron.next_run_date) + MINUTE)
    const thread = await client.threads.get(found.last_run.thread_id)
    expect(thread.metadata).toMatchObject({
      team: 'a',
      cron_id: cron.cron_id,
      cron_due_at: cron.next_run_date,
    })
    expect(seen).toMatchObject([{ input: { say: 'hello' }, threadId: thread.thread_id }])
    expect(due()).toMatchObject([
      { cronId: cron.cron_id, runId: found.last_run.run_id, threadId: thread.thread_id, missed: 0 },
    ])
    await pass(MINUTE)
    await eventually(() => seen.length === 2)
    expect(new Set(seen.map(({ threadId }) => threadId)).size).toBe(2)
  })

  test('has its thread deleted after the run, where nothing else is asked', async () => {
    const { client, seen, pass } = await serveCrons()
    await client.crons.create('agent', { input: {}, schedule: EVERY_MINUTE })
    await pass(MINUTE)
    await eventually(() => seen.length === 1)
    await eventually(async () => (await client.threads.search()).length === 0)
    await expect(client.threads.get(seen[0]!.threadId)).rejects.toThrow('HTTP 404')
  })

  test('starts its runs on the thread that it was made for, and goes with it', async () => {
    const { client, seen, pass, due } = await serveCrons()
    const { thread_id } = await client.threads.create()
    await client.crons.createForThread(thread_id, 'agent', { input: {}, schedule: EVERY_MINUTE })
    await pass(MINUTE)
    await eventually(() => seen.length === 1)
    await eventually(() => due().length === 1)
    await pass(MINUTE)
    await eventually(() => seen.length === 2)
    expect(seen.map(({ threadId }) => threadId)).toEqual([thread_id, thread_id])
    await eventually(async () => (await client.threads.get(thread_id)).status === 'idle')
    await client.threads.delete(thread_id)
    expect(await client.crons.count()).toBe(0)
    await pass(5 * MINUTE)
    await pass(0)
    expect(seen).toHaveLength(2)
  })

  test('gets one run, late, for all dates at which no server was there, and the missed ones are told', async () => {
    const { client, seen, pass, due } = await serveCrons()
    const cron = await client.crons.create('agent', { input: {}, schedule: EVERY_MINUTE })
    await pass(10 * MINUTE)
    await eventually(() => due().length === 1)
    expect(due()).toMatchObject([{ dueAt: Date.parse(cron.next_run_date) }])
    const { missed, at, dueAt } = due()[0]!
    expect(missed).toBe(Math.floor((at - dueAt) / MINUTE))
    expect(missed).toBeGreaterThan(7)
    const [found] = (await client.crons.search({})) as Json
    expect(found.last_run).toMatchObject({ missed, due_at: cron.next_run_date })
    expect(Date.parse(found.next_run_date)).toBeGreaterThan(at)
    await eventually(() => seen.length === 1)
  })

  test('does not drift: each date is on the minute', async () => {
    const { client, pass, due, now } = await serveCrons()
    // From a full minute on, so that the time that the test itself takes crosses none.
    await pass(MINUTE - (now() % MINUTE))
    await client.crons.create('agent', { input: {}, schedule: EVERY_MINUTE })
    for (let at = 1; at <= 20; at++) {
      await pass(MINUTE)
      await eventually(() => due().length === at)
    }
    const dates = due().map(({ dueAt }) => dueAt)
    expect(dates).toEqual(dates.map((_, i) => dates[0]! + i * MINUTE))
    expect(dates[0]! % MINUTE).toBe(0)
    expect(due().every(({ missed }) => missed === 0)).toBe(true)
  })

  test('is left alone while it is disabled and after its end, and is due again from when it is enabled', async () => {
    const { client, pass, due, now } = await serveCrons()
    const off = await client.crons.create('agent', { input: {}, schedule: EVERY_MINUTE, enabled: false })
    expect(off.next_run_date).toBe(null)
    const ending = await client.crons.create('agent', {
      input: {},
      schedule: EVERY_MINUTE,
      endTime: new Date(now() + 90_000).toISOString(),
    })
    await pass(MINUTE)
    await eventually(() => due().length === 1)
    await pass(MINUTE)
    await pass(MINUTE)
    const found = async (id: string) => (await client.crons.search({})).find(({ cron_id }) => cron_id === id)!
    await eventually(async () => (await found(ending.cron_id)).next_run_date === null)
    expect(due().every(({ cronId }) => cronId === ending.cron_id)).toBe(true)
    const before = due().length
    const on = await client.crons.update(off.cron_id, { enabled: true })
    expect(Date.parse(on.next_run_date!)).toBeGreaterThan(now() - 1_000)
    await pass(MINUTE)
    await eventually(() => due().length === before + 1)
    expect(due().at(-1)).toMatchObject({ cronId: off.cron_id, missed: 0 })
    expect(await client.crons.update(off.cron_id, { enabled: false })).toMatchObject({ next_run_date: null })
  })

  test('whose run is refused keeps the reason, goes on with its next date, and stops no other', async () => {
    const agents = new Map([['busy', defineAgent({ run: () => new Promise<undefined>(() => {}) })]])
    const { client, pass, due } = await serveCrons({ agents, defaultAgent: 'busy' })
    agents.set('agent', defineAgent({ run: () => undefined }))
    agents.set('gone', defineAgent({ run: () => undefined }))
    const { thread_id } = await client.threads.create()
    const busy = await client.crons.createForThread(thread_id, 'busy', {
      input: {},
      schedule: EVERY_MINUTE,
      multitaskStrategy: 'reject',
    })
    const gone = await client.crons.create('gone', { input: {}, schedule: EVERY_MINUTE })
    const fine = await client.crons.create('agent', { input: {}, schedule: EVERY_MINUTE })
    agents.delete('gone')
    await pass(MINUTE)
    await eventually(() => due().length === 3)
    await pass(MINUTE)
    await eventually(() => due().length === 6)
    const crons = (await client.crons.search({})) as Json[]
    const last = ({ cron_id }: { cron_id: string }) =>
      crons.find((cron) => cron.cron_id === cron_id)!.last_run
    expect(last(busy)).toMatchObject({
      run_id: null,
      thread_id,
      error: expect.stringMatching(/run in progress|already running/),
    })
    expect(last(gone)).toMatchObject({ run_id: null, error: expect.stringMatching(/assistant/i) })
    expect(last(fine)).toMatchObject({ run_id: expect.any(String), error: null })
    await client.threads.delete(thread_id)
  })
})

const PEOPLE: Readonly<Record<string, Principal>> = {
  ann: { id: 'ann', tenant: 'acme', role: 'boss', token: 'secret-token' },
  art: { id: 'art', tenant: 'acme' },
  bob: { id: 'bob' },
}
const authenticate: Authenticate = (incoming) =>
  PEOPLE[incoming.headers.get('authorization')?.replace('Bearer ', '') ?? ''] ?? null

describe('the cron of another owner', () => {
  test('looks unknown on every route, and its tenant shares it', async () => {
    const { as, origin } = await serveCrons({ authenticate })
    const { thread_id } = await as('ann').threads.create()
    const cron = await as('ann').crons.createForThread(thread_id, 'agent', { schedule: '0 0 1 1 *' })
    expect(cron.user_id).toBe('ann')
    const bob = { authorization: 'Bearer bob' }
    for (const [method, path, body] of [
      ['PATCH', `/runs/crons/${cron.cron_id}`, { enabled: false }],
      ['DELETE', `/runs/crons/${cron.cron_id}`, undefined],
      ['POST', `/threads/${thread_id}/runs/crons`, { assistant_id: 'agent', schedule: '* * * * *' }],
    ] as const) {
      const theirs = await request(origin, method, path, body, bob)
      const unknown = await request(
        origin,
        method,
        path.replace(cron.cron_id, 'unknown').replace(thread_id, 'unknown'),
        body,
        bob,
      )
      expect(theirs.status).toBe(404)
      const text = JSON.stringify(theirs.body)
        .replace(cron.cron_id, 'unknown')
        .replaceAll(thread_id, 'unknown')
      expect(text).toBe(JSON.stringify(unknown.body))
      expect((await request(origin, method, path, body)).status).toBe(401)
    }
    expect(await as('bob').crons.search({})).toEqual([])
    expect(await as('bob').crons.search({ threadId: thread_id })).toEqual([])
    expect(await as('bob').crons.count()).toBe(0)
    expect(await as('art').crons.search({})).toMatchObject([{ cron_id: cron.cron_id, enabled: true }])
  })

  test('acts as who made it, and keeps nothing of its maker but who that is', async () => {
    const { as, pass, seen } = await serveCrons({ authenticate })
    await as('ann').crons.create('agent', { input: {}, schedule: EVERY_MINUTE, onRunCompleted: 'keep' })
    await pass(MINUTE)
    await eventually(() => seen.length === 1)
    expect(seen[0]!.principal).toMatchObject({ id: 'ann', tenant: 'acme', role: 'boss' })
    expect(JSON.stringify(seen)).not.toContain('secret-token')
    await eventually(async () => (await as('art').threads.search()).length === 1)
    expect(await as('bob').threads.search()).toEqual([])
  })

  test('is not made by who may not start runs', async () => {
    const asked: string[] = []
    const { as } = await serveCrons({
      authenticate,
      authorize: (_, action, { assistantId }) => {
        asked.push(`${action} ${assistantId ?? ''}`)
        return action !== 'runs:create'
      },
    })
    await expect(as('ann').crons.create('agent', { input: {}, schedule: EVERY_MINUTE })).rejects.toThrow(
      'HTTP 403',
    )
    expect(asked).toEqual(['crons:create agent', 'runs:create agent'])
    expect(await as('ann').crons.count()).toBe(0)
  })

  test('is changed and deleted with the question about what it runs, and where', async () => {
    const asked: unknown[] = []
    const { as } = await serveCrons({
      authenticate,
      authorize: (_, action, resource) => {
        if (/crons:(update|delete)/.test(action)) asked.push([action, resource])
        return true
      },
    })
    const { thread_id } = await as('ann').threads.create()
    const cron = { input: {}, schedule: EVERY_MINUTE }
    const { cron_id } = await as('ann').crons.createForThread(thread_id, 'agent', cron)
    await as('ann').crons.update(cron_id, { schedule: '0 9 * * *' })
    await as('ann').crons.delete(cron_id)
    const resource = { assistantId: 'agent', threadId: thread_id }
    expect(asked).toEqual([
      ['crons:update', resource],
      ['crons:delete', resource],
    ])
  })
})

describe('a request that is not right', () => {
  const good = { assistant_id: 'agent', schedule: '0 9 * * *' }
  const BAD: readonly (readonly [what: string, body: unknown, said: RegExp])[] = [
    ['no schedule', { assistant_id: 'agent' }, /schedule/],
    ['no assistant', { schedule: '* * * * *' }, /assistant_id/],
    ['an unknown assistant', { ...good, assistant_id: 'nobody' }, /No assistant found for/],
    ['seconds', { ...good, schedule: '* * * * * *' }, /five fields/],
    ['four fields', { ...good, schedule: '* * * *' }, /five fields/],
    ['an empty schedule', { ...good, schedule: '' }, /five fields/],
    ['a name', { ...good, schedule: '@daily' }, /five fields/],
    ['a number', { ...good, schedule: 5 }, /schedule: expected a string/],
    ['minute 60', { ...good, schedule: '60 * * * *' }, /five fields.*minute/],
    ['a range backwards', { ...good, schedule: '5-1 * * * *' }, /five fields/],
    ['a step of nothing', { ...good, schedule: '*/0 * * * *' }, /five fields/],
    ['February 30', { ...good, schedule: '0 0 30 2 *' }, /no date ever matches/],
    ['a long schedule', { ...good, schedule: `${'1,'.repeat(50_000)}1 * * * *` }, /five fields/],
    ['an unknown zone', { ...good, timezone: 'Mars/Base' }, /timezone/],
    ['an offset', { ...good, timezone: '+02:00' }, /timezone/],
    ['an empty zone', { ...good, timezone: '' }, /timezone/],
    ['an end that is no date', { ...good, end_time: 'soon' }, /end_time: expected a date/],
    ['an end that is too far away', { ...good, end_time: '+999999-01-01T00:00:00Z' }, /end_time/],
    ['a month 13', { ...good, end_time: '2030-13-01T00:00:00Z' }, /end_time/],
    [
      'an end that is over',
      { ...good, end_time: '2001-01-01T00:00:00Z' },
      /end_time: the schedule never fires/,
    ],
    ['what becomes of the thread', { ...good, on_run_completed: 'burn' }, /on_run_completed/],
    ['enabled', { ...good, enabled: 'yes' }, /enabled/],
    ['metadata', { ...good, metadata: [] }, /metadata/],
    ['a run that is not right', { ...good, config: { recursion_limit: 0 } }, /config.recursion_limit/],
    ['a webhook to this machine', { ...good, webhook: 'http://127.0.0.1/hook' }, /webhook/],
    ['a stream mode', { ...good, stream_mode: 'x' }, /stream_mode/],
    ['a strategy', { ...good, multitask_strategy: 'wait' }, /multitask_strategy/],
    ['an array', [good], /expected an object/],
    ['a prototype', JSON.parse('{"__proto__":{"schedule":"* * * * *"},"assistant_id":"agent"}'), /schedule/],
  ]
  test.each(BAD)('is refused with a sentence: %s', async (_, body, said) => {
    const { origin, client } = await serveCrons()
    const answer = await post(origin, '/runs/crons', body)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect((answer.body as { message: string }).message).toMatch(said)
    expect(await client.crons.count()).toBe(0)
  })

  test('changes nothing of the cron that it is about', async () => {
    const { origin, client } = await serveCrons()
    const cron = await client.crons.create('agent', { schedule: '0 9 * * *' })
    for (const body of [
      { schedule: '* * * * * *' },
      { schedule: '0 0 31 4 *' },
      { timezone: 'x' },
      { end_time: 1 },
    ])
      expect((await request(origin, 'PATCH', `/runs/crons/${cron.cron_id}`, body)).status).toBe(400)
    expect(await client.crons.search({})).toEqual([cron])
    for (const body of [
      { limit: 0 },
      { limit: 1e9 },
      { offset: -1 },
      { sort_by: 'x' },
      { select: ['x'] },
      { enabled: 1 },
    ])
      expect((await post(origin, '/runs/crons/search', body)).status).toBe(400)
  })
})

test('without runs there are no crons', async () => {
  const { origin } = await serveCrons({ http: { disable_runs: true } })
  for (const path of ['/runs/crons', '/runs/crons/search', '/runs/crons/count'])
    expect((await post(origin, path, {})).status).toBe(404)
})
