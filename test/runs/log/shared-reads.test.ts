import { expect, test } from 'vitest'
import { type AgentEngine, headOf, subscribe } from '../../../src/engine/index.ts'
import { memoryStorage } from '../../../src/storage/memory/storage.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../../kit/engine.ts'
import { isTerminal } from '../../kit/events.ts'
import { parseEvents } from '../../kit/frames.ts'
import { custom, puppet } from '../../kit/puppet.ts'
import { type Place, sharedMemory } from '../../kit/shared.ts'
import { eventually } from '../../kit/wait.ts'

/** An engine over a store that counts reads and watches. */
function counted({ store: inner, checkpointer }: Place = sharedMemory()()) {
  const count = { reads: 0, watches: 0 }
  const store: Store = {
    ...inner,
    read(...args) {
      count.reads++
      return inner.read(...args)
    },
    watch(...args) {
      count.watches++
      const off = inner.watch(...args)
      return () => {
        count.watches--
        off()
      }
    },
  }
  const actor = puppet()
  const engine = engineOf({ a: actor.agent }, { store, checkpointer })
  return { actor, engine, count, store }
}

const open = (engine: AgentEngine, rest: object = {}) =>
  subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, ...rest })

test('a notification costs one read of the store, however many subscribers there are', async () => {
  const { actor, engine, count } = counted()
  await start(engine, 't')
  const subscribers = Array.from({ length: 1_000 }, () => open(engine))
  await Promise.all(subscribers.map((subscriber) => readUntil(subscriber, (events) => events.length > 0)))
  expect(count.watches).toBe(2)
  const before = count.reads
  const rounds = 20
  for (let at = 0; at < rounds; at++) {
    const pending = subscribers.map((subscriber) => subscriber.next())
    actor.emit(custom(at))
    const seen = await Promise.all(pending)
    for (const bytes of seen) expect(parseEvents(bytes!)[0]!.params.data).toEqual({ payload: at })
    // They share the bytes as well.
    expect(new Set(seen.map((bytes) => bytes!.buffer)).size).toBe(1)
  }
  // There is one for each notification, and one for the timer of a second.
  expect(count.reads - before).toBeLessThanOrEqual(rounds * 2)
  for (const subscriber of subscribers) subscriber.cancel()
  actor.finish()
  await transcript(engine, 't')
  await engine.close()
  expect(count.watches).toBe(0)
})

test('a subscriber that is behind the others reads the store itself and misses nothing', async () => {
  const { actor, engine } = counted()
  await start(engine, 't')
  const slow = open(engine)
  const quick = open(engine)
  const first = await readUntil(slow, (events) => events.length > 0)
  // This is more than is kept for subscribers that are a little behind.
  for (let at = 0; at < 100; at++) {
    actor.emit(custom(`${at} ${'x'.repeat(10_000)}`))
    await readUntil(quick, (events) => events.length > 0)
  }
  const late = open(engine, { since: 50 })
  actor.finish()
  const rest = await readUntil(slow, (events) => events.some(isTerminal))
  expect([...first, ...rest].map(({ seq }) => seq)).toEqual(Array.from({ length: 102 }, (_, i) => i + 1))
  const end = await readUntil(late, (events) => events.some(isTerminal))
  expect(end.map(({ seq }) => seq)).toEqual(Array.from({ length: 52 }, (_, i) => i + 51))
  await engine.close()
})

test('events that are written during a read are read right after it', async () => {
  const { store: inner, checkpointer } = sharedMemory()()
  let hold: Promise<void> | undefined
  const store: Store = {
    ...inner,
    async read(...args) {
      const batch = await inner.read(...args)
      await hold
      return batch
    },
  }
  const actor = puppet()
  const engine = engineOf({ a: actor.agent }, { store, checkpointer })
  await start(engine, 't')
  const one = open(engine)
  await readUntil(one, (events) => events.length > 0)
  let release = () => {}
  hold = new Promise((resolve) => {
    release = resolve
  })
  const pending = one.next()
  actor.emit(custom(1))
  await eventually(async () => (await headOf(engine, { threadId: 't' })) >= 2)
  // This one joins while the first event is being read.
  const two = open(engine, { since: 2 })
  const joined = two.next()
  actor.emit(custom(2))
  await eventually(async () => (await headOf(engine, { threadId: 't' })) >= 3)
  hold = undefined
  release()
  const seen = [...parseEvents((await pending)!)]
  if (seen.length < 2) seen.push(...parseEvents((await one.next())!))
  expect(seen.map(({ seq }) => seq)).toEqual([2, 3])
  expect(parseEvents((await joined)!).map(({ seq }) => seq)).toEqual([3])
  actor.finish()
  await engine.close()
})

test('subscribers that a notification finds at the same place share one read of a store in memory', async () => {
  const { actor, engine, count } = counted(memoryStorage())
  await start(engine, 't')
  const subscribers = Array.from({ length: 100 }, () => open(engine))
  await Promise.all(subscribers.map((subscriber) => readUntil(subscriber, (events) => events.length > 0)))
  const behind = open(engine, { since: 0 })
  const before = count.reads
  const rounds = 20
  for (let at = 0; at < rounds; at++) {
    const pending = subscribers.map((subscriber) => subscriber.next())
    actor.emit(custom(at))
    const seen = await Promise.all(pending)
    for (const bytes of seen)
      expect(parseEvents(bytes!).map(({ params }) => params.data)).toEqual([{ payload: at }])
  }
  expect(count.reads - before).toBeLessThanOrEqual(rounds * 2)
  const whole = await readUntil(behind, (events) => events.length >= rounds)
  expect(whole.filter(({ method }) => method === 'custom')).toHaveLength(rounds)
})
