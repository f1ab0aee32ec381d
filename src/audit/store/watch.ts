import type { Op, PartitionChange } from '../../storage/store/store.ts'
import { eventually } from '../check.ts'
import { claim, outcome, refused, same } from './claims.ts'
import { append, LONG, put, type StoreRule } from './rule.ts'

export const watchRules: readonly StoreRule[] = [
  {
    id: 'watch.rings',
    name: 'rings after a commit, when the change can be read, and not once it was stopped',
    async check({ store, partition }) {
      const rings: PartitionChange[] = []
      const stopped: PartitionChange[] = []
      const heads: Promise<number>[] = []
      const stop = store.watch(partition, (ring) => {
        rings.push(ring)
        heads.push(store.inspect(partition).then(({ head }) => head))
      })
      const stopOther = store.watch(partition, (ring) => stopped.push(ring))
      stopOther()
      stopOther()
      await ringing(
        async () => void (await store.commit(partition, { ops: [append(1, 'a')] })),
        () => rings.some(({ log }) => log),
        'a ring for the log',
      )
      claim(
        (await Promise.all(heads)).some((head) => head > 0),
        'the event can be read when the notification comes',
      )
      rings.length = 0
      await ringing(
        async () => void (await store.commit(partition, { ops: [put('c', 'a')] })),
        () => rings.some(({ docs }) => docs),
        'a ring for a document',
      )
      rings.length = 0
      const lease: Op = { op: 'claim', owner: 'o', token: 1, ttlMs: LONG }
      await ringing(
        async () => void (await store.commit(partition, { ops: [lease] })),
        () => rings.some(({ docs }) => docs),
        'a ring for the lease',
      )
      stop()
      same(stopped, [], 'rings of a watch that was stopped')
    },
  },
  {
    id: 'watch.faulty-listener',
    name: 'commits although a listener throws, and notifies the others',
    async check({ store, partition }) {
      let rung = 0
      const stops = [
        store.watch(partition, () => {
          throw new Error('a listener of the audit that throws on purpose')
        }),
        store.watch(partition, () => {
          rung += 1
        }),
      ]
      same((await store.commit(partition, { ops: [append(1, 'a')] })).head, 1, 'the head')
      await eventually(
        'notifications of the other listener',
        async () => rung,
        (times) => times > 0,
      )
      for (const stop of stops) stop()
    },
  },
  {
    id: 'handle.close',
    name: 'refuses every call after close, and lets it be closed twice',
    async check({ open }) {
      const store = await open()
      await store.setup()
      await store.setup()
      await store.close()
      await store.close()
      const calls: [string, () => Promise<unknown>][] = [
        ['get', () => store.get('p', 'c', 'a')],
        ['list', () => store.list('c')],
        ['count', () => store.count('c', 'k')],
        ['commit', () => store.commit('p', { ops: [] })],
        ['read', () => store.read('p', { after: 0 })],
        ['inspect', () => store.inspect('p')],
        ['assertFence', () => store.assertFence('p', 1)],
        ['expired', () => store.expired()],
        ['trim', () => store.trim('p', { keepLast: 1 })],
        ['sweep', () => store.sweep()],
        ['watch', async () => store.watch('p', () => {})],
      ]
      for (const [name, call] of calls) await refused(call(), 'UnavailableError', name)
    },
  },
]

/** A notification may be lost, so a second commit may be needed. */
export async function ringing(commit: () => Promise<void>, rung: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    await commit()
    const [error] = await outcome(eventually(what, async () => rung(), Boolean, 1_000))
    if (error === undefined) return
  }
  claim(false, `${what}: two commits did not ring`)
}
