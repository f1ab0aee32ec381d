import type { OptionTable } from '../core/options.ts'
import { OWNED_BY_ALL } from '../core/principal.ts'
import { atMost, type SlotPolicy } from '../storage/coordination/keyed-semaphore.ts'

/**
 * Limits of the resources that runs may use. Numbers are above 0; `Infinity` removes a limit. See
 * docs/limits.md.
 */
export interface RunLimits {
  /**
   * How long a run may take, in milliseconds. A longer run is stopped and ends as failed. Restarts after a
   * take-over. Default: 3,600,000.
   */
  readonly runMs?: number | undefined
  /**
   * How many runs this process executes at the same time. Further runs wait for a slot, first come, first
   * served. Default: 1,000.
   */
  readonly runs?: number | undefined
  /**
   * The same for the runs of one owner. Has no effect without authentication, or with a LangGraph `Auth`.
   * Default: 100.
   */
  readonly runsPerOwner?: number | undefined
  /** How many runs may wait on one thread. Further runs are rejected with `thread_busy`. Default: 1,000. */
  readonly queuedRuns?: number | undefined
  /**
   * The maximum `recursion_limit` that a request may set for a graph without a limit of its own. A graph's
   * own limit is its maximum. Default: 100.
   */
  readonly recursionLimit?: number | undefined
  /**
   * The maximum length of an agent's event, in characters of JSON. A longer event fails the run. Default:
   * 16,777,216.
   */
  readonly eventLength?: number | undefined
  /**
   * The keys of `config.configurable` that clients may set. Others are dropped. Default: all except the
   * server's own.
   */
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

/** The limits of runs, with their defaults. */
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

/** Runs without an owner, and runs of the owner that all users share, only count towards the total. */
export const slotPolicy = ({ runs, runsPerOwner }: Limits): SlotPolicy<string | null> =>
  atMost(runs, (owner) =>
    owner === null || owner === OWNED_BY_ALL ? Number.POSITIVE_INFINITY : runsPerOwner,
  )
