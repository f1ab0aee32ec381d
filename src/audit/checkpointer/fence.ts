import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import type { Store } from '../../storage/store/store.ts'
import { type Checks, rulesOf } from '../rules.ts'
import { claim, refused, same } from '../store/claims.ts'
import type { CheckpointerContext } from './rule.ts'
import { at, idOf, listAll, putDraft, valuesAt } from './rule.ts'

const MINUTE = 60_000

const take = (store: Store, partition: string, token: number) =>
  store.commit(partition, { ops: [{ op: 'claim', owner: `owner ${token}`, token, ttlMs: MINUTE }] })

const NAMES = {
  'fence.writes':
    'writes through a fenced view while the lease is held, and refuses once it was taken or released',
  'fence.reads': 'reads through a fenced view whoever holds the lease, and keeps what else the saver has',
  'fence.race': 'accepts no write that starts after a take-over, however they interleave',
}

const checks: Checks<keyof typeof NAMES, CheckpointerContext> = {
  async 'fence.writes'({ checkpointer, store, threadId }) {
    await take(store, threadId, 10)
    const old = fencedCheckpointer(checkpointer, store, threadId, 10)
    await putDraft(old, 1, { threadId, values: { a: 1 } })
    await old.putWrites(at(threadId, idOf(1)), [['a', 'kept']], 'task 1')
    same(await valuesAt(checkpointer, threadId), { a: 1 }, 'what the holder wrote')
    await take(store, threadId, 20)
    const late = async (saver: typeof old, what: string) => {
      await refused(
        putDraft(saver, 2, { threadId, parent: idOf(1), values: { a: 'late' } }),
        'FencedError',
        what,
      )
      await refused(saver.putWrites(at(threadId, idOf(1)), [['a', 'late']], 'task 2'), 'FencedError', what)
      await refused(saver.deleteThread(threadId), 'FencedError', `deleteThread ${what}`)
    }
    await late(old, 'after a take-over')
    await late(fencedCheckpointer(checkpointer, store, threadId, 21), 'with a token never issued')
    same((await listAll(checkpointer, at(threadId))).length, 1, 'checkpoints')
    const { pendingWrites } = (await checkpointer.getTuple(at(threadId)))!
    same(pendingWrites, [['task 1', 'a', 'kept']], 'writes')
    const next = fencedCheckpointer(checkpointer, store, threadId, 20)
    await putDraft(next, 3, { threadId, parent: idOf(1), values: { a: 3 }, versions: { a: 2 } })
    await store.commit(threadId, { ops: [{ op: 'release', token: 20 }] })
    await late(next, 'after the release')
    same(await valuesAt(checkpointer, threadId), { a: 3 }, 'the newest')
    await take(store, threadId, 30)
    await fencedCheckpointer(checkpointer, store, threadId, 30).deleteThread(threadId)
    same((await listAll(checkpointer, at(threadId))).length, 0, 'checkpoints that the holder has deleted')
  },
  async 'fence.reads'({ checkpointer, store, threadId, unique }) {
    await putDraft(checkpointer, 1, { threadId, values: { a: 1 } })
    const view = fencedCheckpointer(checkpointer, store, threadId, 1)
    same(await valuesAt(view, threadId), { a: 1 }, 'getTuple')
    same((await listAll(view, at(threadId))).length, 1, 'list')
    for (const member of ['serde', 'get', 'getNextVersion', 'getDeltaChannelHistory', 'toJSON'] as const) {
      same(
        typeof Reflect.get(view, member),
        typeof Reflect.get(checkpointer, member),
        `the type of ${member}`,
      )
    }
    const other = unique()
    await take(store, other, 5)
    await refused(
      putDraft(view, 2, { threadId }),
      'FencedError',
      'a write while only another partition has a lease',
    )
    claim(JSON.stringify({ view }).length < 1000, 'JSON.stringify does not walk into the saver')
  },
  async 'fence.race'({ checkpointer, store, unique }) {
    for (let round = 0; round < 10; round++) {
      const threadId = unique()
      await take(store, threadId, 1)
      const view = fencedCheckpointer(checkpointer, store, threadId, 1)
      const puts: Promise<unknown>[] = []
      let taken = Number.POSITIVE_INFINITY
      for (let number = 1; number <= 6; number++) {
        if (number === 1 + (round % 6)) {
          await take(store, threadId, 2)
          taken = number
        }
        puts.push(
          putDraft(view, number, { threadId }).catch((error: Error) =>
            same(error.name, 'FencedError', 'the refusal'),
          ),
        )
      }
      await Promise.all(puts)
      const numbers = (await listAll(checkpointer, at(threadId))).map(({ checkpoint }) => checkpoint.id)
      same(
        numbers.filter((id) => id >= idOf(taken)),
        [],
        'checkpoints of the old owner after the take-over',
      )
    }
  },
}

export const fenceRules = /* @__PURE__ */ rulesOf(NAMES, checks)
