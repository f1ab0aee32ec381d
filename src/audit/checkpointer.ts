import { checkOptions, type OptionTable } from '../core/options.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../storage/checkpointer/fenced.ts'
import type { Store } from '../storage/store/store.ts'
import { fenceRules } from './checkpointer/fence.ts'
import { keepLatestRules } from './checkpointer/keep-latest.ts'
import {
  at,
  type CheckpointerContext,
  idOf,
  leasesOf,
  memoryLeases,
  putDraft,
  valuesAt,
} from './checkpointer/rule.ts'
import { threadRules } from './checkpointer/threads.ts'
import { valueRules } from './checkpointer/values.ts'
import type { Audit, Rule } from './rules.ts'

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
