import { checkOptions, type OptionTable } from '../core/options.ts'
import type { Guard, Op, Store } from '../storage/store/store.ts'
import { type Audit, eventually, outcome, type Rule } from './check.ts'
import { commitRules } from './store/commits.ts'
import { documentRules } from './store/documents.ts'
import { leaseRules } from './store/leases.ts'
import { listRules } from './store/lists.ts'
import { logRules } from './store/log.ts'
import type { Step } from './store/model.ts'
import { seeded } from './store/random.ts'
import type { StoreContext } from './store/rule.ts'
import { compareWithModel, randomSteps } from './store/sequences.ts'
import { sharedRules, watchRules } from './store/shared.ts'

export interface StoreAuditOptions {
  /** Opens the store. It may contain other data. Each audit closes what it opens. */
  readonly create: () => Store | Promise<Store>
  /**
   * Whether `create` opens the same data each time. If true, several handles are audited together. Default
   * false.
   */
  readonly reopens?: boolean | undefined
  /**
   * Advances the store's clock by `ms` milliseconds. If omitted, audits that depend on time wait for some
   * milliseconds.
   */
  readonly advance?: ((ms: number) => void | Promise<void>) | undefined
  /** The number of random operation sequences that are compared with a model. Default 20. */
  readonly sequences?: number | undefined
  /** The seed of the first sequence. Default 1. */
  readonly seed?: number | undefined
}

const OPTIONS: OptionTable<StoreAuditOptions> = {
  create: ['required', 'function'],
  reopens: 'boolean',
  advance: 'function',
  sequences: 'number',
  seed: 'number',
}

const STEPS = 40

/** The requirements of every `Store`, as named checks for any test runner. */
export function storeAudits(options: StoreAuditOptions): Audit[] {
  checkOptions('storeAudits', options, OPTIONS)
  const { reopens = false, sequences = 20, seed = 1 } = options
  const rules = [
    ...documentRules,
    ...listRules,
    ...logRules,
    ...leaseRules,
    ...commitRules,
    ...watchRules,
    ...(reopens ? sharedRules : []),
    ...Array.from({ length: sequences }, (_, i) => sequenceRule(seed + i, options.advance !== undefined)),
  ]
  return rules.map(({ id, name, check }) => ({
    id: `store.${id}`,
    name,
    source: 'src/storage/store.ts',
    fn: () => inStore(options, check),
  }))
}

function sequenceRule(seed: number, clock: boolean): Rule<StoreContext> {
  return {
    id: `sequence.${seed}`,
    name: `does what the model does in a random sequence of operations (seed ${seed})`,
    async check(context) {
      const steps = randomSteps(seeded(seed), STEPS, clock)
      const [error] = await outcome(compareWithModel(context, steps))
      if (error !== undefined) throw await cutDown(context, steps, error)
    },
  }
}

/** Removes every step that the failure does not need. */
async function cutDown(context: StoreContext, steps: readonly Step[], error: unknown): Promise<Error> {
  let left = [...steps]
  let cause = error
  for (let i = left.length - 1; i >= 0; i--) {
    const fewer = left.filter((_, at) => at !== i)
    const [still] = await outcome(compareWithModel(context, fewer))
    if (still === undefined) continue
    left = fewer
    cause = still
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${message}\nafter ${JSON.stringify(left)}`, { cause })
}

async function inStore(
  { create, advance }: StoreAuditOptions,
  check: Rule<StoreContext>['check'],
): Promise<void> {
  const opened: Store[] = []
  const unique = () => `audit-${crypto.randomUUID()}`
  const open = async () => {
    const store = await create()
    opened.push(store)
    await store.setup()
    return store
  }
  try {
    const store = await open()
    const partition = unique()
    const pass = async (ms: number) => {
      if (advance) return advance(ms)
      const clock = async () => (await store.inspect(partition)).now
      const end = (await clock()) + ms
      await eventually(`${ms} ms by the store's clock`, clock, (now) => now >= end)
    }
    const commit = (...ops: readonly Op[]) => store.commit(partition, { ops })
    const commitIf = (guards: readonly Guard[], ...ops: readonly Op[]) =>
      store.commit(partition, { guards, ops })
    await check({ store, partition, unique, commit, commitIf, open, pass })
  } finally {
    await Promise.all(opened.map((store) => store.close()))
  }
}
