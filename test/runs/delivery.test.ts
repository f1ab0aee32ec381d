import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Subscription, subscribe } from '../../src/engine/index.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isRoot, type WireEvent } from '../kit/events.ts'
import { parseEvents } from '../kit/frames.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { turns } from '../kit/wait.ts'

/** The steps that may happen in any order: events, new runs, and subscribers that join, read, leave and rejoin. */
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('emit' as const), count: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), deep: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pull' as const), who: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rejoin' as const),
      who: fc.nat(),
      by: fc.constantFrom('since' as const, 'id' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('next run' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
)

interface Reader {
  readonly deep: boolean
  subscription: Subscription
  pulling: Promise<void> | undefined
  seen: WireEvent[]
}

/** Each round has a store of its own. A shared one answers as late as a database, and one read serves many subscribers. */
const STORES = {
  memory: () => ({}),
  'a shared store': () => {
    const place = sharedMemory()()
    let calls = 0
    const read: Store['read'] = async (...args) => {
      const late = ++calls % 3
      const batch = await place.store.read(...args)
      await turns(late)
      return batch
    }
    return { ...place, store: { ...place.store, read } }
  },
}

test.each(Object.entries(STORES))(
  'over %s every subscriber sees every matching event once and in order, whenever it joins, leaves and comes back',
  async (_, place) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const threadId = 't'
        const actor = puppet()
        const engine = engineOf({ a: actor.agent }, place())
        const readers: Reader[] = []
        let number = 0
        let runs = 1
        await start(engine, threadId)

        const filterOf = (deep: boolean) => ({
          channels: ALL_CHANNELS,
          ...(deep && { namespaces: [['deep']] }),
        })
        const join = (deep: boolean, cursor: { since?: number; lastEventId?: string } = {}) =>
          subscribe(engine, { threadId, filter: filterOf(deep), ...cursor })
        const pull = (reader: Reader) => {
          const { subscription } = reader
          reader.pulling ??= subscription.next().then((bytes) => {
            reader.pulling = undefined
            if (bytes && reader.subscription === subscription) reader.seen.push(...parseEvents(bytes))
          })
          return reader.pulling
        }

        for (const step of actions) {
          const reader = 'who' in step && readers.length > 0 ? readers[step.who % readers.length] : undefined
          if (step.do === 'emit') {
            for (let i = 0; i < step.count; i++)
              actor.emit(custom(number++, number % 3 === 0 ? ['deep:1'] : []))
          } else if (step.do === 'join') {
            readers.push({ deep: step.deep, subscription: join(step.deep), pulling: undefined, seen: [] })
          } else if (step.do === 'pull') {
            if (reader) void pull(reader)
          } else if (step.do === 'rejoin') {
            const last = reader?.seen.at(-1)
            if (!reader || !last) continue
            reader.subscription.cancel()
            reader.pulling = undefined
            reader.subscription = join(
              reader.deep,
              step.by === 'id' ? { lastEventId: last.event_id } : { since: last.seq },
            )
          } else if (step.do === 'next run') {
            actor.finish()
            await start(engine, threadId)
            runs++
          } else {
            await turns()
          }
        }
        actor.emit(custom('last', ['deep:1']))
        actor.finish()

        const log = await transcript(engine, threadId, runs)
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1))
        for (const reader of readers) {
          while (!reader.seen.some(({ params }) => params.data.payload === 'last')) await pull(reader)
          reader.subscription.cancel()
          const last = reader.seen.findIndex(({ params }) => params.data.payload === 'last')
          const seen = reader.seen.slice(0, last + 1)
          const end = log.findIndex(({ params }) => params.data.payload === 'last')
          const wanted = log
            .slice(0, end + 1)
            .filter(({ params }) => !reader.deep || params.namespace[0] === 'deep:1')
          // A replay leaves out the root events of earlier runs, and nothing else.
          expect(seen.filter((event) => !isRoot(event))).toEqual(wanted.filter((event) => !isRoot(event)))
          const roots = new Set(wanted.filter(isRoot).map((event) => event.event_id))
          const seenRoots = seen.filter(isRoot).map((event) => event.event_id)
          expect(new Set(seenRoots).size).toBe(seenRoots.length)
          expect(seenRoots.every((id) => roots.has(id))).toBe(true)
          expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).sort((a, b) => a - b))
        }
        await engine.close()
      }),
      { numRuns: 150 },
    )
  },
)

test('a thousand subscribers of one thread each get the whole run', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  await start(engine, 't')
  const all = Array.from({ length: 1_000 }, () => transcript(engine, 't'))
  for (let i = 0; i < 50; i++) {
    actor.emit(custom(i))
    await turns()
  }
  actor.finish()
  const [first, ...others] = (await Promise.all(all)).map((events) =>
    JSON.stringify(events.map(({ event_id }) => event_id)),
  )
  expect(others.every((other) => other === first)).toBe(true)
  expect(JSON.parse(first!)).toHaveLength(52)
  await engine.close()
})

test('a cancelled subscription settles the read in progress and releases the thread', async () => {
  const engine = engineOf({ a: puppet().agent })
  const subscription = subscribe(engine, { threadId: 'none', filter: { channels: ALL_CHANNELS } })
  const pending = subscription.next()
  subscription.cancel()
  expect(await pending).toBeUndefined()
  expect(await subscription.next()).toBeUndefined()
})

test('closing the engine breaks every subscription instead of ending it', async () => {
  const engine = engineOf({ a: puppet().agent })
  const subscription = subscribe(engine, { threadId: 'none', filter: { channels: ALL_CHANNELS } })
  const pending = subscription.next()
  await engine.close()
  await expect(pending).rejects.toThrow('shutting down')
})
