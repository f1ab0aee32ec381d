import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent, type ServerEvent } from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { asking, stepping } from '../fixtures/databases/agents.ts'
import { COMMITS, DUMPS, fileOf } from '../fixtures/databases/dumps.ts'
import { BACKENDS, type Database } from '../kit/backends.ts'
import { dataOf, isTerminal, type Json } from '../kit/events.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { eventually } from '../kit/wait.ts'
import { callers, reachOf } from '../owners/reach.ts'

const DATABASES = BACKENDS.filter((backend) => backend.installed()).flatMap((backend) =>
  COMMITS.map((commit) => ({ commit, backend })),
)
const PART = { kind: 'data', data: { notes: [] } }

/** The commits that served the platform's REST, A2A and crons. */
const isNewest = (commit: string): boolean => commit === COMMITS.at(-1)

describe.each(DATABASES)('a database that $commit wrote on $backend.name', ({ commit, backend }) => {
  async function loaded(): Promise<Database> {
    const database = await backend.create()
    onTestFinished(() => database.remove())
    await DUMPS[backend.name].load(fileOf(commit, backend.name), database.url)
    return database
  }

  async function instance({ url }: Database) {
    const events: ServerEvent[] = []
    const hooks: Json[] = []
    const storage = await openStorage(url)
    onTestFinished(() => storage.close())
    const host = await serveAgents({
      agents: {
        ask: langgraph(asking()),
        steps: langgraph(stepping(async () => {})),
        once: defineAgent({ run: async ({ message }) => void (await message('done')) }),
      },
      store: storage.store,
      checkpointer: storage.checkpointer,
      authenticate: callers,
      leaseTtlMs: 1_000,
      observe: (event) => void events.push(event),
      platform: {
        webhooks: {
          async local(request) {
            hooks.push(await request.json())
            return new Response()
          },
        },
      },
    })
    return { ...host, storage, events, hooks }
  }

  const stateOf = async ({ origin }: Host, caller: string, thread: string) =>
    (await reachOf(origin, caller).ask('GET', `/threads/${thread}/state`)).body
  const threadsOf = async ({ origin }: Host, caller: string): Promise<string[]> =>
    (await reachOf(origin, caller).ask('POST', '/threads/search', { limit: 100 })).body
      .map(({ thread_id }: Json) => thread_id)
      .sort()
  const countOf = async ({ origin }: Host, caller: string) =>
    (await reachOf(origin, caller).ask('POST', '/threads/count', {})).body

  test('two instances open it at once, end what was in flight, start what waited, and ask on', async () => {
    const database = await loaded()
    const [one, two] = await Promise.all([instance(database), instance(database)])
    for (const [caller, name] of [
      ['tenant acme', 'acme'],
      ['id bob', 'bob'],
    ] as const) {
      const listed = await threadsOf(one, caller)
      expect(listed).toEqual(expect.arrayContaining([`asks-${name}`, `flies-${name}`, `once-${name}`]))
      expect(await countOf(two, caller)).toBe((await threadsOf(two, caller)).length)

      const flown = async () => (await stateOf(two, caller, `flies-${name}`)).values.notes.length === 4
      await eventually(flown, { what: 'The run that waited', timeoutMs: 200_000 })
      const once = () => reachOf(two.origin, caller).ask('GET', `/threads/once-${name}`)
      await eventually(async () => (await once()).body.status !== 'busy', {
        what: 'The end',
        timeoutMs: 200_000,
      })
      expect((await stateOf(one, caller, `flies-${name}`)).values.notes).toEqual(['one', 'two', 'one', 'two'])
      const transcript = await one.thread(`flies-${name}`, { 'x-caller': caller }).transcript(2)
      expect(dataOf(transcript.filter(isTerminal), 'lifecycle').map(({ event }) => event)).toEqual([
        'completed',
        'completed',
      ])
      const ended = await one.thread(`once-${name}`, { 'x-caller': caller }).transcript()
      expect(ended.filter(isTerminal)).toHaveLength(1)
      const { body: history } = await reachOf(two.origin, caller).ask('GET', `/threads/flies-${name}/history`)
      expect(history.length).toBeGreaterThanOrEqual(6)

      const answer = { assistant_id: 'ask', command: { resume: 'yes' } }
      await reachOf(one.origin, caller).ask('POST', `/threads/asks-${name}/runs/wait`, answer)
      expect((await stateOf(two, caller, `asks-${name}`)).values.notes).toEqual(['answer yes'])
      expect((await stateOf(two, caller, `asks-${name}`)).next).toEqual([])
    }
  })

  test('both kinds of owners have what both had, and what one of them makes is its own', async () => {
    const database = await loaded()
    const host = await instance(database)
    const before = await threadsOf(host, 'tenant acme')
    expect(await threadsOf(host, 'id acme')).toEqual(before)
    expect(await countOf(host, 'id acme')).toBe(before.length)
    for (const stranger of ['id [tenant]acme', 'tenant [id]acme', 'id other'])
      expect(await threadsOf(host, stranger)).toEqual([])
    expect((await stateOf(host, 'id acme', 'asks-acme')).tasks).toHaveLength(1)

    const tenant = reachOf(host.origin, 'tenant acme')
    const id = reachOf(host.origin, 'id acme')
    await tenant.ask('POST', '/threads/asks-acme/runs/wait', { assistant_id: 'ask', command: { resume: 1 } })
    expect((await id.ask('GET', '/threads/asks-acme')).status).toBe(404)
    expect(await threadsOf(host, 'id acme')).not.toContain('asks-acme')
    expect(await threadsOf(host, 'tenant acme')).toContain('asks-acme')
    await id.ask('PATCH', '/threads/once-acme', { metadata: { mine: true } })
    expect((await tenant.ask('GET', '/threads/once-acme')).status).toBe(404)

    for (const [maker, other] of [
      [tenant, id],
      [id, tenant],
    ] as const) {
      const { thread_id } = (await maker.ask('POST', '/threads', {})).body
      expect((await other.ask('GET', `/threads/${thread_id}`)).status).toBe(404)
    }
    if (!isNewest(commit)) return

    const assistants = async (caller: typeof tenant): Promise<Json[]> =>
      (await caller.ask('POST', '/assistants/search', {})).body.filter(({ name }: Json) => name === 'of acme')
    const [[own], [copy]] = [await assistants(tenant), await assistants(id)]
    expect(own.assistant_id).toBe(copy.assistant_id)
    await tenant.ask('PATCH', `/assistants/${own.assistant_id}`, { metadata: { secret: 1 } })
    expect((await id.ask('GET', `/assistants/${own.assistant_id}`)).body.metadata).toEqual({})

    const item = '/store/items?namespace=notes&key=k'
    await tenant.ask('PUT', '/store/items', { namespace: ['notes'], key: 'k', value: { secret: 1 } })
    expect((await id.ask('GET', item)).body.value).toEqual({ of: 'acme' })
    expect((await tenant.ask('GET', item)).body.value).toEqual({ secret: 1 })
    await id.ask('DELETE', '/store/items', { namespace: ['notes'], key: 'k' })
    expect((await tenant.ask('GET', item)).body.value).toEqual({ secret: 1 })

    // Its principal says whose it is.
    const crons = async (caller: typeof tenant) => (await caller.ask('POST', '/runs/crons/search', {})).body
    expect([(await crons(id)).length, (await crons(tenant)).length]).toEqual([0, 1])

    const [[taskId], shared] = [await tenant.tasks('ask'), await id.tasks('ask')]
    expect(shared).toEqual([taskId])
    const answered = await tenant.send('a context', { assistant: 'ask', part: PART, taskId: taskId! })
    expect([answered.id, answered.status.state]).toEqual([taskId, 'completed'])
    // The conversation is the tenant's now, and the other one has begun its own under the same name.
    expect(await id.tasks('ask')).toEqual([])
    const begun = await id.send('a context', { assistant: 'ask', part: PART })
    expect([begun.id === taskId, begun.status.state]).toEqual([false, 'input-required'])
    expect(await tenant.tasks('ask')).toEqual([taskId])
  })

  test.runIf(isNewest(commit))(
    'crons that are due fire, and webhooks that wait are called',
    async () => {
      const host = await instance(await loaded())
      await eventually(() => host.events.filter(({ type }) => type === 'cron.due').length >= 2, {
        what: 'the crons',
        timeoutMs: 200_000,
      })
      await eventually(() => host.hooks.length >= 2, { what: 'the webhooks', timeoutMs: 200_000 })
      expect(host.hooks.map(({ thread_id }) => thread_id).sort()).toEqual([
        '00000003-0000-4000-8000-000000000000',
        '00000004-0000-4000-8000-000000000000',
      ])
    },
    60_000,
  )

  test('opened again it is as it was', async () => {
    const database = await loaded()
    const first = await instance(database)
    await Promise.all(['tenant acme', 'id acme', 'id bob'].map((caller) => threadsOf(first, caller)))
    await eventually(async () => (await countOf(first, 'id bob')) >= 3, { what: 'the threads' })
    const seen = [await threadsOf(first, 'tenant acme'), (await first.storage.report()).schema]
    const again = await instance(database)
    expect([await threadsOf(again, 'tenant acme'), (await again.storage.report()).schema]).toEqual(seen)
    const { version, newest } = (await again.storage.report()).schema
    expect(version).toBe(newest)
  })
})
