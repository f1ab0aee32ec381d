import { setTimeout } from 'node:timers/promises'
import Redis from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { subscribe } from '../../src/engine/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { redisStorage } from '../../src/storage/redis/redis.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, readUntil, start } from '../kit/engine.ts'
import { isTerminal } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { hasRedis, startRedis } from '../kit/redis-server.ts'
import { eventually, gate } from '../kit/wait.ts'

/** A store that other processes could share, and that forgets everything at `forget`, which it does not announce. */
function forgetful() {
  let inner = memoryStore()
  const watches = new Set<(store: Store) => void>()
  const store: Store = new Proxy(inner, {
    get(_, key: keyof Store) {
      if (key === 'capabilities') return { ...inner.capabilities, shared: true }
      if (key === 'watch') {
        return (...args: Parameters<Store['watch']>) => {
          let off = inner.watch(...args)
          const turnTo = (other: Store) => {
            off()
            off = other.watch(...args)
          }
          watches.add(turnTo)
          return () => {
            watches.delete(turnTo)
            off()
          }
        }
      }
      return inner[key]
    },
  })
  const forget = () => {
    inner = memoryStore()
    for (const turnTo of watches) turnTo(inner)
  }
  return { store, forget }
}

test('a run whose last events were lost stops at once, and is continued by whoever looks after it', async () => {
  const commits: Parameters<Store['commit']>[] = []
  let inner = memoryStore()
  const store: Store = new Proxy(inner, {
    get(_, key: keyof Store) {
      if (key === 'capabilities') return { ...inner.capabilities, shared: true }
      if (key !== 'commit') return inner[key]
      return (...args: Parameters<Store['commit']>) => {
        commits.push(args)
        return inner.commit(...args)
      }
    },
  })
  const fenced = gate()
  const { agent, tasks, emit, finish } = puppet({ resumable: true })
  const observe = ({ type }: { readonly type: string }) => void (type === 'run.fenced' && fenced.open())
  const engine = engineOf({ a: agent }, { store, leaseTtlMs: 2_000, onError: () => {}, observe })
  const { runId } = await start(engine, 't')
  const kept = commits.length
  emit(custom('forgotten'))
  await eventually(async () => (await inner.inspect('t')).head === 2)
  inner = memoryStore()
  for (const [partition, change] of commits.slice(0, kept)) await inner.commit(partition, change)
  finish()
  await fenced.opened
  await eventually(() => tasks.length === 2)
  finish()
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'success' })
  await engine.close()
})

test.each([{ since: 0 }, {}])(
  'a subscriber with %j whose log was lost gets all of the new log',
  async (cursor) => {
    const { store, forget } = forgetful()
    const actors = [puppet(), puppet()]
    const agents = { a: actors[0]!.agent, b: actors[1]!.agent }
    const fenced = gate()
    const engine = engineOf(agents, {
      store,
      onError: () => {},
      observe: ({ type }) => type === 'run.fenced' && fenced.open(),
    })
    await start(engine, 't')
    actors[0]!.emit(...Array.from({ length: 10 }, (_, i) => custom(`old ${i}`)))
    const subscription = subscribe(engine, {
      threadId: 't',
      filter: { channels: ALL_CHANNELS },
      ...cursor,
    })
    const before = await readUntil(subscription, (events) => events.length === 11)
    forget()
    actors[0]!.finish()
    await fenced.opened
    // Threads that were created in the same millisecond give their events the same ids.
    await setTimeout(2)
    await start(engine, 't', {}, { assistantId: 'b' })
    actors[1]!.emit(custom('new'))
    actors[1]!.finish()
    const events = await readUntil(subscription, (seen) => seen.some(isTerminal))
    subscription.cancel()
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(events[1]!.params.data).toEqual({ payload: 'new' })
    const ids = new Set(before.map(({ event_id }) => event_id))
    expect(events.filter(({ event_id }) => ids.has(event_id))).toEqual([])
    await engine.close()
  },
)

test('a subscriber of a thread that the store has forgotten ends as that of a deleted one', async () => {
  const { store, forget } = forgetful()
  const { agent, finish } = puppet()
  const engine = engineOf({ a: agent }, { store, onError: () => {} })
  finish()
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
  const subscription = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
  await readUntil(subscription, (events) => events.some(isTerminal))
  const next = subscription.next()
  forget()
  await expect(next).rejects.toMatchObject({ code: 'no_such_thread' })
  await engine.close()
})

test.each([{ since: 0 }, {}])(
  'a subscriber with %j that has read no event ends, too, where its thread is forgotten',
  async (cursor) => {
    const { store, forget } = forgetful()
    const engine = engineOf({ a: puppet().agent }, { store })
    await engine.createThread({ threadId: 't' })
    const subscription = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, ...cursor })
    await subscription.ready()
    const next = subscription.next()
    forget()
    await expect(next).rejects.toMatchObject({ code: 'no_such_thread' })
    await engine.close()
  },
)

test('a subscriber that comes later gets the new log alone, where its process could not read while the log was lost and grew again', async () => {
  const { store: lossy, forget } = forgetful()
  let answers: Promise<unknown> = Promise.resolve()
  const store: Store = new Proxy(lossy, {
    get(target, key: keyof Store) {
      if (key !== 'read') return target[key]
      return async (...args: Parameters<Store['read']>) => {
        await answers
        return target.read(...args)
      }
    },
  })
  const actors = [puppet(), puppet()]
  const agents = { a: actors[0]!.agent, b: actors[1]!.agent }
  const engine = engineOf(agents, { store, onError: () => {} })
  const filter = { channels: ALL_CHANNELS }
  await start(engine, 't')
  actors[0]!.emit(...Array.from({ length: 5 }, (_, i) => custom(`old ${i}`)))
  const early = subscribe(engine, { threadId: 't', filter, since: 0 })
  await readUntil(early, (events) => events.length === 6)
  const { opened, open } = gate()
  answers = opened
  forget()
  const { runId } = await start(engine, 't', {}, { assistantId: 'b' })
  actors[1]!.emit(...Array.from({ length: 9 }, (_, i) => custom(`new ${i}`)))
  actors[1]!.finish()
  await engine.wait({ threadId: 't', runId })
  open()
  const late = subscribe(engine, { threadId: 't', filter, since: 0 })
  const events = await readUntil(late, (seen) => seen.some(isTerminal))
  expect(events.filter(({ method }) => method === 'custom').map(({ params }) => params.data)).toEqual(
    Array.from({ length: 9 }, (_, i) => ({ payload: `new ${i}` })),
  )
  early.cancel()
  late.cancel()
  await engine.close()
})

test.runIf(hasRedis())('open streams end when their thread is lost in a FLUSHALL of Redis', async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  const storage = redisStorage({ url: server.url })
  const { agent, finish } = puppet()
  const engine = engineOf({ a: agent }, { ...storage, onError: () => {} })
  onTestFinished(async () => {
    await engine.close()
    await storage.close()
    admin.disconnect()
    await server.remove()
  })
  finish()
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
  const subscription = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS } })
  await readUntil(subscription, (events) => events.some(isTerminal))
  const events = engine.events({ threadId: 't' })
  await events.next()
  const drain = async () => {
    for await (const _ of events);
  }
  const ends = [subscription.next(), drain()]
  await admin.flushall()
  await Promise.all(ends.map((end) => expect(end).rejects.toMatchObject({ code: 'no_such_thread' })))
})
