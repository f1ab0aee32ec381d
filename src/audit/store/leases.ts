import type { Store } from '../../storage/store/store.ts'
import { type Checks, claim, refused, rulesOf, same } from '../check.ts'
import {
  append,
  clear,
  fence,
  free,
  LONG,
  put,
  readAll,
  release,
  SHORT,
  type StoreContext,
  take,
} from './rule.ts'

const NAMES = {
  'lease.claim': 'grants the lease with a token higher than all earlier ones, to one holder at a time',
  'lease.race': 'grants the lease to one of eight concurrent claims',
  'lease.fence': 'lets only the holder write under a fence, until a higher token takes over',
  'lease.expiry': "expires a lease by the store's clock: fenced, free, listed as expired, and taken once",
  'lease.expired-order': 'lists expired leases oldest first, up to the limit, without held or released ones',
  'lease.renew': 'renews for the holder, also late, but never after another holder took over',
  'lease.release': 'releases the lease for the holder only, and keeps the token',
  'lease.in-one-commit': 'applies the lease ops of a commit in order',
  'lease.clock': "returns the store's clock, which advances",
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'lease.claim'({ store, partition, commit, commitIf }) {
    const before = await store.inspect(partition)
    same(before.lease, undefined, 'the lease of a new partition')
    await commitIf([free], take(50))
    const { lease, token, now } = await store.inspect(partition)
    same([lease?.partition, lease?.owner, lease?.token, token], [partition, 'owner 50', 50, 50], 'the lease')
    const left = lease!.expiresAt - now
    claim(left <= LONG && left > LONG - 60_000, `expires ${LONG} ms after the store's now: ${left}`)
    await refused(commitIf([free], take(51)), 'ConflictError', 'a claim of a held lease')
    for (const old of [49, 50]) {
      await refused(commit(take(old)), 'ConflictError', `token ${old} after 50`)
    }
    same((await store.inspect(partition)).lease?.token, 50, 'the holder')
  },
  async 'lease.race'({ store, partition, commitIf }) {
    const base = (await store.inspect(partition)).token
    const claims = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
      commitIf([free], take(base + n), append(base + n, `${n}`)),
    )
    const won = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
    same(won.length, 1, 'winners')
    same(await tokensIn(store, partition), [(await store.inspect(partition)).lease?.token], 'the events')
  },
  async 'lease.fence'({ store, partition, commit, commitIf }) {
    const write = (token: number) => commitIf([fence(token)], append(token, 'x'), put('c', 'a', token))
    await refused(write(0), 'FencedError', 'a fence where nobody holds the lease')
    await commit(take(10))
    await write(10)
    await store.assertFence(partition, 10)
    for (const token of [9, 11]) {
      await refused(write(token), 'FencedError', `a fence with ${token} while 10 holds`)
      await refused(store.assertFence(partition, token), 'FencedError', `assertFence with ${token}`)
    }
    await commit(take(20))
    await refused(write(10), 'FencedError', 'the old holder after a take-over')
    await refused(store.assertFence(partition, 10), 'FencedError', 'assertFence of the old holder')
    await write(20)
    same(await tokensIn(store, partition), [10, 20], 'the writers in the log')
  },
  async 'lease.expiry'({ store, partition, commit, commitIf, pass }) {
    await commit(take(10, SHORT))
    await pass(SHORT)
    await refused(store.assertFence(partition, 10), 'FencedError', 'assertFence after the end')
    const late = commitIf([fence(10)], append(10, 'late'))
    await refused(late, 'FencedError', 'a fenced write after the end')
    const [expired, ...others] = await expiredOf(store, [partition])
    same([expired?.owner, expired?.token, others], ['owner 10', 10, []], 'the expired lease')
    await commitIf([free], take(11))
    same(await expiredOf(store, [partition]), [], 'expired leases after the take-over')
    await store.assertFence(partition, 11)
    same((await store.inspect(partition)).head, 0, 'the head')
  },
  async 'lease.expired-order'({ store, unique, pass }) {
    const [a, b, c, held, released] = [unique(), unique(), unique(), unique(), unique()] as const
    await store.commit(b, { ops: [take(1, SHORT)] })
    await store.commit(c, { ops: [take(1, SHORT * 2)] })
    await store.commit(a, { ops: [take(1, 1)] })
    await store.commit(held, { ops: [take(1, LONG)] })
    await store.commit(released, { ops: [take(1, 1)] })
    await store.commit(released, { ops: [release(1)] })
    await pass(SHORT * 2)
    const found = await expiredOf(store, [a, b, c, held, released])
    same(found.map(({ partition }) => partition).sort(), [a, b, c].sort(), 'the expired leases')
    // On a busy machine the last claim may have come after the first one's end.
    const ends = found.map(({ expiresAt }) => expiresAt)
    same(
      ends,
      ends.toSorted((one, other) => one - other),
      'their ends, in order',
    )
    same((await store.expired({ limit: 2 })).length, 2, 'with a limit of two')
    for (const one of [a, b, c]) await store.commit(one, { ops: [clear] })
  },
  async 'lease.renew'({ store, partition, commit, pass }) {
    const renew = (token: number, ttlMs = LONG) => commit({ op: 'renew', token, ttlMs })
    await refused(renew(1), 'FencedError', 'a renewal where nobody ever held the lease')
    await commit(take(10, SHORT))
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
    await commit(take(11))
    await refused(renew(10), 'FencedError', 'a renewal after a take-over')
    await commit(release(11))
    await refused(renew(11), 'FencedError', 'a renewal after the release')
    await refused(renew(10), 'FencedError', 'a renewal of an older token after the release')
  },
  async 'lease.release'({ store, partition, commit, commitIf }) {
    await commit(release(1))
    await commit(take(10))
    await commit(release(9))
    same((await store.inspect(partition)).lease?.token, 10, 'the lease after a release by another')
    await commit(release(10))
    const { lease, token } = await store.inspect(partition)
    same([lease, token], [undefined, 10], 'the lease and the token after the release')
    await refused(store.assertFence(partition, 10), 'FencedError', 'the fence after the release')
    await refused(commit(take(10)), 'ConflictError', 'the same token again')
    await commitIf([free], take(11))
    await commit(release(10))
    same((await store.inspect(partition)).lease?.token, 11, 'the lease after a late release')
  },
  async 'lease.in-one-commit'({ store, partition, commit, commitIf }) {
    await commit(take(1), append(1, 'a'), release(1), take(2), { op: 'renew', token: 2, ttlMs: LONG })
    same((await store.inspect(partition)).lease?.token, 2, 'the lease')
    const done = commitIf([fence(2)], append(2, 'b'), put('c', 'run', 'done'), release(2))
    same((await done).head, 2, 'the last write under the lease')
    const ended = commit(take(3), release(3), { op: 'renew', token: 3, ttlMs: 1 })
    await refused(ended, 'FencedError', 'a renewal after a release in one commit')
    same((await store.inspect(partition)).token, 2, 'the token of a refused commit')
  },
  async 'lease.clock'({ store, partition, pass }) {
    const { now } = await store.inspect(partition)
    claim(Number.isFinite(now) && now >= 0, `milliseconds since 1970: ${now}`)
    await pass(5)
    const later = (await store.inspect(partition)).now
    claim(later >= now + 5, `the clock after 5 ms: ${later - now}`)
  },
}

export const leaseRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const tokensIn = async (store: Store, partition: string): Promise<number[]> =>
  (await readAll(store, partition)).map(({ token }) => token)

async function expiredOf(store: Store, partitions: readonly string[]) {
  return (await store.expired({ limit: 1000 })).filter(({ partition }) => partitions.includes(partition))
}
