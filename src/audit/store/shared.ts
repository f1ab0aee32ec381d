import { type Checks, rulesOf } from '../rules.ts'
import { refused, same } from './claims.ts'
import { append, fence, free, LONG, put, type StoreContext, seqsIn, take, textsIn } from './rule.ts'
import { notifies } from './watch.ts'

/** For stores whose data outlives a handle: two handles open the same data. */
const NAMES = {
  'shared.sees-commits': 'shows one handle the commits of another, and fences across handles',
  'shared.rings': 'notifies across handles within a second',
  'shared.race': 'numbers the appends of two handles without gaps, and grants a lease to one of both',
  'shared.durable': 'keeps documents, log, lease and counters when a handle is closed',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'shared.sees-commits'({ partition, commit, commitIf, unique, open }) {
    const other = await open()
    const collection = unique()
    await commit(take(5, LONG, 'a'), append(5, 'x'), put(collection, 'd', 1))
    same(await textsIn(other, partition), ['x'], 'the log')
    same((await other.get(partition, collection, 'd'))?.value, 1, 'the document')
    same((await other.list(collection)).docs.length, 1, 'the list')
    const second = other.commit(partition, { guards: [free], ops: [take(6, LONG, 'b')] })
    await refused(second, 'ConflictError', 'a claim of the lease the other holds')
    await other.commit(partition, { ops: [take(6, LONG, 'b')] })
    const zombie = commitIf([fence(5)], append(5, 'late'))
    await refused(zombie, 'FencedError', 'the old owner')
  },
  async 'shared.rings'({ partition, commit, open }) {
    const other = await open()
    let isNotified = false
    const stop = other.watch(partition, ({ log }) => {
      isNotified ||= log
    })
    await notifies(
      'the other handle',
      () => commit(append(1, 'x')),
      () => isNotified,
    )
    stop()
  },
  async 'shared.race'({ store, partition, open }) {
    const other = await open()
    const writes = Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? store : other).commit(partition, { ops: [append(i, `${i}`)] }),
    )
    const heads = (await Promise.all(writes)).map(({ head }) => head)
    const numbers = Array.from({ length: 40 }, (_, i) => i + 1)
    const sorted = heads.toSorted((a, b) => a - b)
    same(sorted, numbers, 'heads')
    same(await seqsIn(store, partition), numbers, 'the log')
    const claims = [store, other].map((handle, i) =>
      handle.commit(partition, { guards: [free], ops: [take(100 + i, LONG, `${i}`)] }),
    )
    const won = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
    same(won.length, 1, 'winners')
  },
  async 'shared.durable'({ partition, open }) {
    const first = await open()
    const { versions } = await first.commit(partition, {
      ops: [take(5, LONG, 'a'), append(5, 'x', 'y'), put('c', 'd', { a: 1 })],
    })
    await first.close()
    const second = await open()
    const { head, token, lease } = await second.inspect(partition)
    same([head, token, lease?.owner], [2, 5, 'a'], 'the state')
    same(await textsIn(second, partition), ['x', 'y'], 'the log')
    same((await second.get(partition, 'c', 'd'))?.version, versions[0], 'the document')
  },
}

export const sharedRules = /* @__PURE__ */ rulesOf(NAMES, checks)
