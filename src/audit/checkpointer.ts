import { checkOptions, type OptionTable } from '../core/options.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../storage/checkpointer/fenced.ts'
import type { Store } from '../storage/store/store.ts'
import { type Audit, type Checks, claim, type Rule, refused, rulesOf, same } from './check.ts'
import { keepLatestRules } from './checkpointer/keep-latest.ts'
import {
  at,
  type CheckpointerContext,
  idOf,
  leasesOf,
  listAll,
  memoryLeases,
  putDraft,
  valuesAt,
} from './checkpointer/rule.ts'
import { threadRules } from './checkpointer/threads.ts'
import { valueRules } from './checkpointer/values.ts'

export interface CheckpointerAuditOptions {
  /**
   * Opens the saver, and the store whose leases fence it. Default: leases in memory. The saver may contain
   * other data. Each audit closes what it opens.
   */
  readonly create: () => CheckpointerUnderAudit | Promise<CheckpointerUnderAudit>
}

export interface CheckpointerUnderAudit {
  readonly checkpointer: Checkpointer
  readonly store?: Store | undefined
}

/**
 * The requirements of every `Checkpointer`, in addition to `@langchain/langgraph-checkpoint-validation`: run
 * that suite too. If the saver has no `keepLatest`, its audits check nothing.
 */
export function checkpointerAudits(options: CheckpointerAuditOptions): Audit[] {
  checkOptions('checkpointerAudits', options, {
    create: ['required', 'function'],
  } satisfies OptionTable<CheckpointerAuditOptions>)
  return [...valueRules, ...threadRules, ...keepLatestRules, ...fenceRules].map(({ id, name, check }) => ({
    id: `checkpointer.${id}`,
    name,
    source: 'src/storage/checkpointer.ts',
    fn: () => withSaver(options, check),
  }))
}

async function withSaver(
  { create }: CheckpointerAuditOptions,
  check: Rule<CheckpointerContext>['check'],
): Promise<void> {
  const { checkpointer, store } = await create()
  const leases = store ? leasesOf(store) : memoryLeases()
  const unique = () => `audit-${crypto.randomUUID()}`
  try {
    await store?.setup()
    await checkpointer.setup?.()
    const threadId = unique()
    await check({
      checkpointer,
      threadId,
      unique,
      take: (token, partition = threadId) => leases.take(partition, token),
      release: (token) => leases.release(threadId, token),
      fenced: (token, partition = threadId) =>
        fencedCheckpointer(checkpointer, leases.store, partition, token),
      put: (number, draft) => putDraft(checkpointer, number, { threadId, ...draft }),
      tuple: (number) => checkpointer.getTuple(at(threadId, number === undefined ? undefined : idOf(number))),
      write: (number, task, values) =>
        checkpointer.putWrites(at(threadId, idOf(number)), Object.entries(values), task),
      valuesOf: (number) => valuesAt(checkpointer, threadId, number),
    })
  } finally {
    await checkpointer.end?.()
    await store?.close()
  }
}

const NAMES = {
  'fence.writes':
    'writes through a fenced view while the lease is held, and rejects writes after it was taken or released',
  'fence.reads': "reads through a fenced view regardless of the lease, and keeps the saver's other members",
  'fence.race': 'accepts no write that starts after a takeover, however they interleave',
}

const checks: Checks<keyof typeof NAMES, CheckpointerContext> = {
  async 'fence.writes'({ checkpointer, threadId, take, release, fenced, tuple, valuesOf }) {
    await take(10)
    const old = fenced(10)
    await putDraft(old, 1, { threadId, values: { a: 1 } })
    await old.putWrites(at(threadId, idOf(1)), [['a', 'kept']], 'task 1')
    same(await valuesOf(), { a: 1 }, 'what the holder wrote')
    await take(20)
    const late = async (saver: typeof old, what: string) => {
      const draft = { threadId, parent: 1, values: { a: 'late' } }
      const config = at(threadId, idOf(1))
      await refused(putDraft(saver, 2, draft), 'FencedError', what)
      await refused(saver.putWrites(config, [['a', 'late']], 'task 2'), 'FencedError', what)
      await refused(saver.deleteThread(threadId), 'FencedError', `deleteThread ${what}`)
    }
    await late(old, 'after a take-over')
    await late(fenced(21), 'with a token never issued')
    same((await listAll(checkpointer, at(threadId))).length, 1, 'checkpoints')
    const { pendingWrites } = (await tuple())!
    same(pendingWrites, [['task 1', 'a', 'kept']], 'writes')
    const next = fenced(20)
    await putDraft(next, 3, { threadId, parent: 1, values: { a: 3 }, versions: { a: 2 } })
    await release(20)
    await late(next, 'after the release')
    same(await valuesOf(), { a: 3 }, 'the newest')
    await take(30)
    await fenced(30).deleteThread(threadId)
    same((await listAll(checkpointer, at(threadId))).length, 0, 'checkpoints that the holder has deleted')
  },
  async 'fence.reads'({ checkpointer, threadId, take, fenced, put, unique }) {
    await put(1, { values: { a: 1 } })
    const view = fenced(1)
    same(await valuesAt(view, threadId), { a: 1 }, 'getTuple')
    same((await listAll(view, at(threadId))).length, 1, 'list')
    for (const member of ['serde', 'get', 'getNextVersion', 'getDeltaChannelHistory', 'toJSON'] as const) {
      const [seen, wanted] = [view, checkpointer].map((saver) => typeof Reflect.get(saver, member))
      same(seen, wanted, `the type of ${member}`)
    }
    const other = unique()
    await take(5, other)
    const late = putDraft(view, 2, { threadId })
    await refused(late, 'FencedError', 'a write while only another partition has a lease')
    claim(JSON.stringify({ view }).length < 1000, 'JSON.stringify does not walk into the saver')
  },
  async 'fence.race'({ checkpointer, take, fenced, unique }) {
    for (let round = 0; round < 10; round++) {
      const threadId = unique()
      await take(1, threadId)
      const view = fenced(1, threadId)
      const puts: Promise<unknown>[] = []
      let taken = Number.POSITIVE_INFINITY
      for (let number = 1; number <= 6; number++) {
        if (number === 1 + (round % 6)) {
          await take(2, threadId)
          taken = number
        }
        const put = putDraft(view, number, { threadId })
        puts.push(put.catch((error: Error) => same(error.name, 'FencedError', 'the refusal')))
      }
      await Promise.all(puts)
      const ids = (await listAll(checkpointer, at(threadId))).map(({ checkpoint }) => checkpoint.id)
      const late = ids.filter((id) => id >= idOf(taken))
      same(late, [], 'checkpoints of the old owner after the take-over')
    }
  },
}

const fenceRules = /* @__PURE__ */ rulesOf(NAMES, checks)
