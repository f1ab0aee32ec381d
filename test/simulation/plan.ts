import type { Random } from './random.ts'

export const MISFORTUNES = [
  'kill',
  'close',
  'stop',
  'jump',
  'weather',
  'hang',
  'away',
  'deaf',
  'forget',
] as const

export type Misfortune = (typeof MISFORTUNES)[number]

/** What a seed decides about its course. */
export interface Plan {
  /** How many instances there are. */
  readonly size: number
  readonly threads: number
  /** How many things the client of a thread does. */
  readonly actions: number
  readonly leaseTtlMs: number
  /** How many runs an instance executes at once. */
  readonly runs: number
  /** How far clocks are off, at most, in milliseconds. */
  readonly skewMs: number
  /** How long things go wrong, and how often, in milliseconds. */
  readonly troubleMs: number
  readonly betweenMs: number
  readonly kinds: readonly Misfortune[]
}

export function planOf(seed: number, random: Random): Plan {
  const size = 1 + random.below(3)
  const kinds = MISFORTUNES.filter((kind) => random.chance(0.45) || (kind === 'forget' && seed % 10 === 2))
  return {
    size,
    threads: 1 + random.below(2),
    actions: 1 + random.below(5),
    leaseTtlMs: random.pick([2_000, 6_000]),
    runs: random.pick([1, 1_000, 1_000]),
    skewMs: random.pick([0, 100, 10_000]),
    troubleMs: random.pick([2_000, 6_000]),
    betweenMs: random.pick([400, 3_000]),
    // Nothing goes wrong in one course of five, and in one of ten the database forgets for certain.
    kinds: seed % 5 === 0 ? [] : kinds,
  }
}
