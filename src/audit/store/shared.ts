import type { PartitionChange } from '../../storage/store/store.ts'
import { type Checks, claim, eventually, outcome, refused, rulesOf, same } from '../check.ts'
import { append, fence, free, LONG, put, type StoreContext, seqsIn, take, textsIn } from './rule.ts'

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

const WATCH_NAMES = {
  'watch.rings': 'notifies after a commit, when the change can be read, and not after it was stopped',
  'watch.faulty-listener': 'commits even if a listener throws, and notifies the others',
  'handle.close': 'rejects every call after close, and can be closed twice',
}

const watchChecks: Checks<keyof typeof WATCH_NAMES, StoreContext> = {
  async 'watch.rings'({ store, partition, commit }) {
    const changes: PartitionChange[] = []
    const stopped: PartitionChange[] = []
    const heads: Promise<number>[] = []
    const stop = store.watch(partition, (change) => {
      changes.push(change)
      heads.push(store.inspect(partition).then(({ head }) => head))
    })
    const stopOther = store.watch(partition, (change) => stopped.push(change))
    stopOther()
    stopOther()
    const of = (kind: 'log' | 'docs') => () => changes.some((change) => change[kind])
    await notifies('the log', () => commit(append(1, 'a')), of('log'))
    const isThere = (await Promise.all(heads)).some((head) => head > 0)
    claim(isThere, 'the event can be read when the notification comes')
    changes.length = 0
    await notifies('a document', () => commit(put('c', 'a')), of('docs'))
    changes.length = 0
    await notifies('the lease', () => commit(take(1, LONG, 'o')), of('docs'))
    stop()
    same(stopped, [], 'notifications of a watch that was stopped')
  },
  async 'watch.faulty-listener'({ store, partition, commit }) {
    let isNotified = false
    const stops = [
      store.watch(partition, () => {
        throw new Error('a listener of the audit that throws on purpose')
      }),
      store.watch(partition, () => {
        isNotified = true
      }),
    ]
    same((await commit(append(1, 'a'))).head, 1, 'the head')
    await eventually('a notification of the other listener', async () => isNotified, Boolean)
    for (const stop of stops) stop()
  },
  async 'handle.close'({ open }) {
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
}

export const watchRules = /* @__PURE__ */ rulesOf(WATCH_NAMES, watchChecks)

/** A notification may be lost, so a second commit may be needed. */
async function notifies(
  of: string,
  commit: () => Promise<unknown>,
  isNotified: () => boolean,
): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    await commit()
    const [error] = await outcome(eventually(of, async () => isNotified(), Boolean, 1_000))
    if (error === undefined) return
  }
  claim(false, `two commits give a notification of ${of}`)
}
