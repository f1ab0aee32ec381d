import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type MetadataFilter, passes } from '../../../src/core/metadata-filter.ts'
import { EVERYONE, withAccess } from '../../../src/core/principal.ts'
import { newThread, type ThreadRecord } from '../../../src/engine/records/records.ts'
import { putThread } from '../../../src/engine/records/thread.ts'
import { langgraphAuth } from '../../../src/faces/rest/index.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { approval } from '../../fixtures/graphs.ts'
import { PLACES } from '../../kit/databases.ts'
import { engineOf } from '../../kit/engine.ts'
import { isTerminal } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { puppet } from '../../kit/puppet.ts'
import { bearer, clientOf, knowing, owning } from './users.ts'

const seeing = (metadataFilter: MetadataFilter) =>
  withAccess({ id: 'ann' }, { owner: EVERYONE.id, metadataFilter })

const STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const

const recordOf = (n: number, metadata: ThreadRecord['metadata']): ThreadRecord => ({
  ...newThread(`t${String(n).padStart(5, '0')}`, EVERYONE.id, 1_000 + n),
  updatedAt: 1_000 + n,
  status: STATUSES[n % 4]!,
  metadata,
})

describe.each(PLACES)('threads that a filter lets through, over $name', ({ name, open }) => {
  // A database takes half a minute to write what memory takes a second for.
  const many = name === 'memory' ? 20_000 : 2_000

  async function serve() {
    const { store } = await open()
    const engine = engineOf({ a: puppet().agent }, { store })
    onTestFinished(() => engine.close())
    const list = async (query: Parameters<typeof engine.listThreads>[0]) => {
      const ids: string[] = []
      for await (const { threadId } of engine.listThreads(query)) ids.push(threadId)
      return ids
    }
    return { store, engine, list }
  }

  test('are listed, paged, counted and found, for any filter, and no other is', async () => {
    const { store, engine, list } = await serve()
    const teams = ['red', 'blue', 1, null]
    const records = Array.from({ length: 240 }, (_, n) =>
      recordOf(n, {
        owner: ['ann', 'bob', 'cid'][n % 3],
        tags: [`t${n % 5}`, 'all'],
        ...(n % 7 > 0 && { team: teams[n % 4] }),
      }),
    )
    for (const record of records) await store.commit(record.threadId, { ops: [putThread(record)] })
    const foreign = { ...recordOf(900, { owner: 'ann' }), owner: 'ann' }
    await store.commit(foreign.threadId, { ops: [putThread(foreign)] })
    const filter = fc.oneof(
      fc.record({ owner: fc.constantFrom('ann', 'bob', 'nobody') }),
      fc.record({ team: fc.constantFrom('red', 'blue', 1, null) }),
      fc.record({
        owner: fc.record({ $eq: fc.constantFrom('ann', 'cid') }),
        tags: fc.record({ $contains: fc.constantFrom('t1', 'all', 'none') }),
      }),
      fc.record({
        $or: fc.constant([{ owner: 'ann' }, { team: 'red' }]),
        tags: fc.record({ $contains: fc.constantFrom(['all', 't2'], ['t3']) }),
      }),
      fc.record({ $and: fc.constant([{ owner: 'bob' }, { team: 'blue' }]) }),
      fc.constantFrom({}, { $or: [] }),
    ) as fc.Arbitrary<MetadataFilter>
    const page = fc.record({ offset: fc.nat(90), limit: fc.integer({ min: 1, max: 100 }) })
    await fc.assert(
      fc.asyncProperty(
        filter,
        page,
        fc.constantFrom(undefined, ...STATUSES),
        async (wanted, { offset, limit }, status) => {
          const principal = seeing(wanted)
          const seen = records
            .filter(({ metadata }) => passes(wanted, metadata))
            .filter((record) => status === undefined || record.status === status)
            .map(({ threadId }) => threadId)
            .reverse()
          expect(await list({ principal, status })).toEqual(seen)
          expect(await list({ principal, status, offset, limit })).toEqual(seen.slice(offset, offset + limit))
          expect(await engine.countThreads({ principal, status })).toBe(seen.length)
          for (const { threadId, metadata } of [records[offset]!, foreign])
            expect((await engine.findThread({ threadId, principal })) !== undefined).toBe(
              threadId !== foreign.threadId && passes(wanted, metadata),
            )
        },
      ),
      { numRuns: 25 },
    )
    expect(await list({ principal: EVERYONE })).toHaveLength(records.length)
  })

  test(`${many} of two owners: each sees and counts their own`, { timeout: 240_000 }, async () => {
    const { store, engine, list } = await serve()
    for (let n = 0; n < many; n += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => recordOf(n + at, { owner: (n + at) % 2 ? 'bob' : 'ann' })).map(
          (record) => store.commit(record.threadId, { ops: [putThread(record)] }),
        ),
      )
    for (const [owner, newest] of [
      ['ann', recordOf(many - 2, {}).threadId],
      ['bob', recordOf(many - 1, {}).threadId],
    ] as const) {
      const principal = seeing({ owner })
      expect(await engine.countThreads({ principal })).toBe(many / 2)
      const ids = await list({ principal, limit: 50 })
      expect([ids[0], ids.length]).toEqual([newest, 50])
      expect(ids.every((id) => Number(id.slice(1)) % 2 === (owner === 'bob' ? 1 : 0))).toBe(true)
      expect((await list({ principal, offset: many / 2 - 10 })).length).toBe(10)
    }
  })
})

const agents = { ask: langgraph(approval()) }

describe('a thread under the Auth of LangGraph', () => {
  test('is seen by all users where no handler gives a filter', async () => {
    const host = await serveAgents({ agents, ...langgraphAuth(knowing()) })
    const { thread_id } = await clientOf(host.origin, 'ann').threads.create()
    const bob = clientOf(host.origin, 'bob')
    expect((await bob.threads.get(thread_id)).thread_id).toBe(thread_id)
    expect(await bob.threads.search()).toHaveLength(1)
  })

  test('is shared by those whose filters let it through', async () => {
    const auth = knowing()
      .on(['threads:create', 'threads:create_run'], ({ value, user }) => {
        value.metadata = { ...value.metadata, members: [user.identity] }
      })
      .on('threads', ({ user }) => ({ members: { $contains: user.identity } }))
    const host = await serveAgents({ agents, ...langgraphAuth(auth) })
    const [ann, bob] = [clientOf(host.origin, 'ann'), clientOf(host.origin, 'bob')]
    const { thread_id } = await ann.threads.create()
    await expect(bob.threads.get(thread_id)).rejects.toThrow(/HTTP 404/)
    await ann.threads.update(thread_id, { metadata: { members: ['ann', 'bob'] } })
    expect((await bob.threads.get(thread_id)).metadata).toEqual({ members: ['ann', 'bob'] })
    expect([await ann.threads.count(), await bob.threads.count()]).toEqual([1, 1])
    await bob.threads.update(thread_id, { metadata: { members: ['bob'] } })
    await expect(ann.threads.getState(thread_id)).rejects.toThrow(/HTTP 404/)
    expect([await ann.threads.count(), await bob.threads.count()]).toEqual([0, 1])
  })

  test('of another is no reason to find an idempotency key used', async () => {
    const host = await serveAgents({ agents, ...langgraphAuth(owning()) })
    const create = async (name: string) => {
      const headers = { ...bearer(name), 'content-type': 'application/json', 'idempotency-key': 'the-same' }
      const answer = await fetch(`${host.origin}/threads`, { method: 'POST', body: '{}', headers })
      return [answer.status, (await answer.json()).thread_id]
    }
    const [status, id] = await create('ann')
    expect(await create('ann')).toEqual([status, id])
    const [others, other] = await create('bob')
    expect([status, others]).toEqual([200, 200])
    expect(other).not.toBe(id)
  })

  test('cannot be made over a state of which no record says whose it is', async () => {
    const store = memoryStore()
    const auth = langgraphAuth(owning())
    const first = await serveAgents({ agents, store, ...auth })
    const thread = first.thread('kept', bearer('ann'))
    await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
    await thread.transcript()
    const { record } = { record: (await store.list('threads', { limit: 1 })).docs[0]! }
    await store.commit('kept', { ops: [{ op: 'delete', collection: 'threads', id: record.id }] })
    const bobs = first.thread('kept', bearer('bob'))
    expect((await bobs.get('/state')).status).toBe(404)
    expect(await bobs.refused('run.start', { assistant_id: 'ask', input: {} })).toBe('no_such_run')
  })

  test('is told to its own streams alone, also where it is made while they are open', async () => {
    const host = await serveAgents({ agents, ...langgraphAuth(owning()) })
    const [anns, bobs] = [host.thread('new', bearer('ann')), host.thread('new', bearer('bob'))]
    const [annsStream, bobsStream] = [await anns.stream(), await bobs.stream()]
    await anns.start({ notes: ['private'] }, { assistant_id: 'ask' })
    await annsStream.until((seen) => seen.some(isTerminal))
    const own = host.thread('bobs', bearer('bob'))
    await own.start({ notes: ['own'] }, { assistant_id: 'ask' })
    await own.transcript()
    expect(bobsStream.events).toEqual([])
  })
})
