import type { Guard, Op } from '../../storage/store/store.ts'
import { type Checks, outcome, refused, rulesOf, same } from '../check.ts'
import {
  append,
  clear,
  fence,
  free,
  headIs,
  isAbsent,
  isAt,
  LONG,
  put,
  readAll,
  release,
  remove,
  type StoreContext,
  take,
  textsIn,
} from './rule.ts'

const NAMES = {
  'commit.atomic': 'writes nothing of a commit whose guard or op fails, at any position',
  'commit.counters': 'loses none of many concurrent compare-and-set increments',
  'commit.versions': 'returns the version of each put, in the order of the ops',
  'commit.partitions-apart': 'changes only the partition of the commit',
  'commit.aborted': 'rejects a commit whose signal has fired, and writes nothing',
  'commit.large': 'accepts hundreds of ops and megabytes in one commit',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'commit.atomic'(context) {
    const { commit, commitIf } = context
    const { versions } = await commit(
      put('c', 'a', 'old', { index: { k: 1 } }),
      append(5, 'one'),
      take(5, LONG, 'o'),
    )
    const before = await snapshot(context)
    const good = [isAt('c', 'a', versions[0]!), isAbsent('c', 'b'), fence(5), headIs(1)]
    const ops = [
      put('c', 'a', 'new'),
      put('c', 'b', 'new'),
      remove('c', 'a'),
      append(5, 'two', 'three'),
      release(5),
      take(6, LONG, 'p'),
    ]
    const bad: [Guard, string][] = [
      [isAt('c', 'a', versions[0]! + 1), 'ConflictError'],
      [isAbsent('c', 'a'), 'ConflictError'],
      [free, 'ConflictError'],
      [headIs(0), 'ConflictError'],
      [fence(4), 'FencedError'],
    ]
    for (const [guard, error] of bad) {
      await refused(commitIf([guard, ...good], ...ops), error, JSON.stringify(guard))
      await refused(commitIf([...good, guard], ...ops), error, JSON.stringify(guard))
    }
    const failing: [Op, string][] = [
      [{ op: 'renew', token: 4, ttlMs: 1 }, 'FencedError'],
      [take(5, 1), 'ConflictError'],
    ]
    for (const [op, error] of failing) {
      await refused(commitIf(good, ...ops, op), error, JSON.stringify(op))
      await refused(commitIf(good, clear, op), error, 'a clear before it')
    }
    same(await snapshot(context), before, 'what is stored')
    await commitIf(good, ...ops)
  },
  async 'commit.counters'({ store, partition, commit, commitIf }) {
    await commit(put('c', 'n', 0))
    const increment = async () => {
      for (;;) {
        const doc = (await store.get(partition, 'c', 'n'))!
        const ops = [put('c', 'n', (doc.value as number) + 1), append(1, String(doc.value))]
        const [error] = await outcome(commitIf([isAt('c', 'n', doc.version)], ...ops))
        if (error === undefined) return
        same((error as Error).name, 'ConflictError', 'the refusal')
      }
    }
    await Promise.all(Array.from({ length: 20 }, increment))
    same((await store.get(partition, 'c', 'n'))?.value, 20, 'the counter')
    const numbers = Array.from({ length: 20 }, (_, i) => `${i}`)
    same(await textsIn(store, partition), numbers, 'the log of it')
  },
  async 'commit.versions'({ store, partition, commit }) {
    const ops = [put('c', 'a'), append(1, 'x'), put('d', 'a'), remove('c', 'zzz'), put('c', 'b')]
    const done = await commit(...ops)
    const version = async (collection: string, id: string) =>
      (await store.get(partition, collection, id))?.version
    const versions = [await version('c', 'a'), await version('d', 'a'), await version('c', 'b')]
    same(done.versions, versions, 'versions')
    const nothing = await commit()
    same([nothing.head, nothing.versions], [1, []], 'a commit of nothing')
  },
  async 'commit.partitions-apart'({ store, commit, unique }) {
    const other = unique()
    await store.commit(other, { ops: [put('c', 'a', 'kept'), append(1, 'kept'), take(1)] })
    await commit(put('c', 'a', 'x'), append(2, 'x', 'y'))
    await commit(clear)
    same((await store.get(other, 'c', 'a'))?.value, 'kept', 'the document')
    same(await textsIn(store, other), ['kept'], 'the log')
    await store.assertFence(other, 1)
  },
  async 'commit.aborted'({ store, partition }) {
    const change = { ops: [put('c', 'a')], signal: AbortSignal.abort() }
    await refused(store.commit(partition, change), 'UnavailableError', 'the commit')
    same(await store.get(partition, 'c', 'a'), undefined, 'the document')
  },
  async 'commit.large'({ store, partition, commit }) {
    const texts = Array.from({ length: 200 }, (_, i) => `${i} ${'x'.repeat(10_000)}`)
    const ops = [append(1, ...texts), ...texts.map((text, i) => put('c', `${i}`, text, { index: { i } }))]
    const { head, versions } = await commit(...ops)
    same([head, versions.length], [200, 200], 'head and versions')
    same(await textsIn(store, partition), texts, 'the log')
    same((await store.get(partition, 'c', '199'))?.value, texts[199], 'the last document')
  },
}

export const commitRules = /* @__PURE__ */ rulesOf(NAMES, checks)

async function snapshot({ store, partition }: StoreContext): Promise<unknown> {
  const { head, firstRetained, token, lease } = await store.inspect(partition)
  const docs = [await store.get(partition, 'c', 'a'), await store.get(partition, 'c', 'b')]
  return { head, firstRetained, token, lease, docs, events: await readAll(store, partition) }
}
