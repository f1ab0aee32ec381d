import type { Op, Store } from '../../storage/store/store.ts'
import { claim, refused, same } from './claims.ts'
import { append, LONG, put, readAll, SHORT, type StoreRule } from './rule.ts'

const take = (token: number, ttlMs = LONG, owner = `owner ${token}`): Op => ({
  op: 'claim',
  owner,
  token,
  ttlMs,
})
const free = { guard: 'free' } as const
const fence = (token: number) => ({ guard: 'fence', token }) as const

export const leaseRules: readonly StoreRule[] = [
  {
    id: 'lease.claim',
    name: 'gives the lease with a token above all earlier ones, and to nobody else while it is held',
    async check({ store, partition }) {
      const before = await store.inspect(partition)
      same(before.lease, undefined, 'the lease of a new partition')
      await store.commit(partition, { guards: [free], ops: [take(50)] })
      const { lease, token, now } = await store.inspect(partition)
      same(
        [lease?.partition, lease?.owner, lease?.token, token],
        [partition, 'owner 50', 50, 50],
        'the lease',
      )
      const left = lease!.expiresAt - now
      claim(left <= LONG && left > LONG - 60_000, `expires ${LONG} ms after the store's now: ${left}`)
      await refused(
        store.commit(partition, { guards: [free], ops: [take(51)] }),
        'ConflictError',
        'a claim of a held lease',
      )
      for (const old of [49, 50]) {
        await refused(store.commit(partition, { ops: [take(old)] }), 'ConflictError', `token ${old} after 50`)
      }
      same((await store.inspect(partition)).lease?.token, 50, 'the holder')
    },
  },
  {
    id: 'lease.race',
    name: 'lets one of eight concurrent claims win',
    async check({ store, partition }) {
      const base = (await store.inspect(partition)).token
      const claims = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
        store.commit(partition, { guards: [free], ops: [take(base + n), append(base + n, `${n}`)] }),
      )
      const won = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
      same(won.length, 1, 'winners')
      const events = await readAll(store, partition)
      same(
        events.map(({ token }) => token),
        [(await store.inspect(partition)).lease?.token],
        'the events',
      )
    },
  },
  {
    id: 'lease.fence',
    name: 'lets only the holder write under a fence, until a higher token takes over',
    async check({ store, partition }) {
      const write = (token: number) =>
        store.commit(partition, { guards: [fence(token)], ops: [append(token, 'x'), put('c', 'a', token)] })
      await refused(write(0), 'FencedError', 'a fence where nobody holds the lease')
      await store.commit(partition, { ops: [take(10)] })
      await write(10)
      await store.assertFence(partition, 10)
      for (const token of [9, 11]) {
        await refused(write(token), 'FencedError', `a fence with ${token} while 10 holds`)
        await refused(store.assertFence(partition, token), 'FencedError', `assertFence with ${token}`)
      }
      await store.commit(partition, { ops: [take(20)] })
      await refused(write(10), 'FencedError', 'the old holder after a take-over')
      await refused(store.assertFence(partition, 10), 'FencedError', 'assertFence of the old holder')
      await write(20)
      same(
        (await readAll(store, partition)).map(({ token }) => token),
        [10, 20],
        'the writers in the log',
      )
    },
  },
  {
    id: 'lease.expiry',
    name: "ends a lease by the store's clock: fenced, free, listed as expired, and taken once",
    async check({ store, partition, pass }) {
      await store.commit(partition, { ops: [take(10, SHORT)] })
      await pass(SHORT)
      await refused(store.assertFence(partition, 10), 'FencedError', 'assertFence after the end')
      const late = store.commit(partition, { guards: [fence(10)], ops: [append(10, 'late')] })
      await refused(late, 'FencedError', 'a fenced write after the end')
      const found = await expiredOf(store, [partition])
      same(
        found.map(({ owner, token }) => [owner, token]),
        [['owner 10', 10]],
        'the expired lease',
      )
      await store.commit(partition, { guards: [free], ops: [take(11)] })
      same(await expiredOf(store, [partition]), [], 'expired leases after the take-over')
      await store.assertFence(partition, 11)
      same((await store.inspect(partition)).head, 0, 'the head')
    },
  },
  {
    id: 'lease.expired-order',
    name: 'lists expired leases oldest first, up to the limit, without those held or released',
    async check({ store, unique, pass }) {
      const [a, b, c, held, released] = [unique(), unique(), unique(), unique(), unique()]
      await store.commit(b!, { ops: [take(1, SHORT)] })
      await store.commit(c!, { ops: [take(1, SHORT * 2)] })
      await store.commit(a!, { ops: [take(1, 1)] })
      await store.commit(held!, { ops: [take(1, LONG)] })
      await store.commit(released!, { ops: [take(1, 1)] })
      await store.commit(released!, { ops: [{ op: 'release', token: 1 }] })
      await pass(SHORT * 2)
      const found = await expiredOf(store, [a!, b!, c!, held!, released!])
      same(
        found.map(({ partition }) => partition),
        [a, b, c],
        'the expired leases',
      )
      same((await store.expired({ limit: 2 })).length, 2, 'with a limit of two')
      for (const partition of [a!, b!, c!]) await store.commit(partition, { ops: [{ op: 'clear' }] })
    },
  },
  {
    id: 'lease.renew',
    name: 'renews for the holder, also late, but never once another took over',
    async check({ store, partition, pass }) {
      const renew = (token: number, ttlMs = LONG) =>
        store.commit(partition, { ops: [{ op: 'renew', token, ttlMs }] })
      await refused(renew(1), 'FencedError', 'a renewal where nobody ever held the lease')
      await store.commit(partition, { ops: [take(10, SHORT)] })
      const before = (await store.inspect(partition)).lease!
      await renew(10)
      const after = (await store.inspect(partition)).lease!
      claim(after.expiresAt > before.expiresAt, 'a renewal moves the end')
      same([after.owner, after.token], ['owner 10', 10], 'owner and token')
      await pass(SHORT)
      await store.assertFence(partition, 10)
      await renew(10, 1)
      await pass(1)
      await refused(store.assertFence(partition, 10), 'FencedError', 'the fence after the end')
      await renew(10)
      await store.assertFence(partition, 10)
      await store.commit(partition, { ops: [take(11)] })
      await refused(renew(10), 'FencedError', 'a renewal after a take-over')
      await store.commit(partition, { ops: [{ op: 'release', token: 11 }] })
      await refused(renew(11), 'FencedError', 'a renewal after the release')
      await refused(renew(10), 'FencedError', 'a renewal of an older token after the release')
    },
  },
  {
    id: 'lease.release',
    name: 'frees the lease for the holder only, and keeps the token',
    async check({ store, partition }) {
      const release = (token: number) => store.commit(partition, { ops: [{ op: 'release', token }] })
      await release(1)
      await store.commit(partition, { ops: [take(10)] })
      await release(9)
      same((await store.inspect(partition)).lease?.token, 10, 'the lease after a release by another')
      await release(10)
      const { lease, token } = await store.inspect(partition)
      same([lease, token], [undefined, 10], 'the lease and the token after the release')
      await refused(store.assertFence(partition, 10), 'FencedError', 'the fence after the release')
      await refused(store.commit(partition, { ops: [take(10)] }), 'ConflictError', 'the same token again')
      await store.commit(partition, { guards: [free], ops: [take(11)] })
      await release(10)
      same((await store.inspect(partition)).lease?.token, 11, 'the lease after a late release')
    },
  },
  {
    id: 'lease.in-one-commit',
    name: 'does the lease ops of a commit in order',
    async check({ store, partition }) {
      await store.commit(partition, {
        ops: [
          take(1),
          append(1, 'a'),
          { op: 'release', token: 1 },
          take(2),
          { op: 'renew', token: 2, ttlMs: LONG },
        ],
      })
      same((await store.inspect(partition)).lease?.token, 2, 'the lease')
      const done = store.commit(partition, {
        guards: [fence(2)],
        ops: [append(2, 'b'), put('c', 'run', 'done'), { op: 'release', token: 2 }],
      })
      same((await done).head, 2, 'the last write under the lease')
      const ended = store.commit(partition, {
        ops: [take(3), { op: 'release', token: 3 }, { op: 'renew', token: 3, ttlMs: 1 }],
      })
      await refused(ended, 'FencedError', 'a renewal after a release in one commit')
      same((await store.inspect(partition)).token, 2, 'the token of a refused commit')
    },
  },
  {
    id: 'lease.clock',
    name: "tells the store's clock, which moves on",
    async check({ store, partition, pass }) {
      const { now } = await store.inspect(partition)
      claim(Number.isFinite(now) && now >= 0, `milliseconds since 1970: ${now}`)
      await pass(5)
      const later = (await store.inspect(partition)).now
      claim(later >= now + 5, `the clock after 5 ms: ${later - now}`)
    },
  },
]

async function expiredOf(store: Store, partitions: readonly string[]) {
  return (await store.expired({ limit: 1000 })).filter(({ partition }) => partitions.includes(partition))
}
