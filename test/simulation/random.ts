/** Numbers that look random and follow from a seed. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** A whole number from 0 to below `below`. */
  below(below: number): number
  /** A number from `from` to below `to`. */
  between(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
  /** Another sequence, which does not depend on how many numbers were drawn from this one since. */
  fork(): Random
}

/** Mulberry32: 32 bits of state, which is plenty for a course of some ten thousand draws. */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    between: (from, to) => from + next() * (to - from),
    chance: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)]!,
    fork: () => randomOf(below(2 ** 31)),
  }
}
