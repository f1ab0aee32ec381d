/** A small seeded generator (mulberry32). The same seed gives the same sequence on every platform. */
export interface Random {
  /** An integer from `low` to `high`, inclusive. */
  int(low: number, high: number): number
  pick<T>(choices: readonly T[]): T
  chance(probability: number): boolean
  list<T>(low: number, high: number, make: () => T): T[]
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    int,
    pick: (choices) => choices[int(0, choices.length - 1)]!,
    chance: (probability) => next() < probability,
    list: (low, high, make) => Array.from({ length: int(low, high) }, make),
  }
}
