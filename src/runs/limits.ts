import type { OptionTable } from '../options.ts'
import { OWNED_BY_ALL } from '../principal.ts'
import { atMost, type SlotPolicy } from '../storage/coordination/keyed-semaphore.ts'

/** Bounds of what runs may use. Numbers are above 0; `Infinity` lifts a bound. See docs/limits.md. */
export interface RunLimits {
  /** How long a run may take, in milliseconds. It is stopped then, and ends as failed. Counted anew after a take-over. Default: 3,600,000. */
  readonly runMs?: number | undefined
  /** How many runs this process executes at once. Further ones wait in the order in which they came. Default: 1,000. */
  readonly runs?: number | undefined
  /** The same for the runs of one owner. Has no effect without authentication, and with an `Auth` of LangGraph. Default: 100. */
  readonly runsPerOwner?: number | undefined
  /** How many runs may wait on one thread. Further ones are refused with `thread_busy`. Default: 1,000. */
  readonly queuedRuns?: number | undefined
  /** The highest `recursion_limit` that a run may ask of a graph without one of its own, which is its highest otherwise. Default: 100. */
  readonly recursionLimit?: number | undefined
  /** The length of an agent's event, in characters of JSON. A longer one fails the run. Default: 16,777,216. */
  readonly eventLength?: number | undefined
  /** The keys of `config.configurable` that clients may set. Others are dropped. Default: all but those of the server. */
  readonly configurable?: readonly string[] | undefined
}

export const RUN_LIMITS: OptionTable<RunLimits> = {
  runMs: 'positive',
  runs: 'positive',
  runsPerOwner: 'positive',
  queuedRuns: 'positive',
  recursionLimit: 'positive',
  eventLength: 'positive',
  configurable: 'list',
}

export type Limits = { readonly [Name in keyof Omit<RunLimits, 'configurable'>]-?: number } & Pick<
  RunLimits,
  'configurable'
>

const DEFAULTS: Limits = {
  runMs: 3_600_000,
  runs: 1_000,
  runsPerOwner: 100,
  queuedRuns: 1_000,
  recursionLimit: 100,
  eventLength: 16 * 1024 * 1024,
}

export function limitsOf(given: RunLimits = {}): Limits {
  const { configurable, ...numbers } = given
  const set = Object.entries(numbers).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(set), configurable }
}

/** Runs without an owner, and those of the owner of all, count among all runs only. */
export const slotPolicy = ({ runs, runsPerOwner }: Limits): SlotPolicy<string | null> =>
  atMost(runs, (owner) =>
    owner === null || owner === OWNED_BY_ALL ? Number.POSITIVE_INFINITY : runsPerOwner,
  )
