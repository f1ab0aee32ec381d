/** Two corresponding items, or an item that only one list has. */
export type Pair<Item> = readonly [one: Item | undefined, other: Item | undefined]

/** The maximum size of the table. A larger one would be slow. */
const MAX_CELLS = 1_000_000

/** Aligns two lists so that as many items as possible are paired by key, in the order of both. */
export function align<Item>(
  one: readonly Item[],
  other: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Pair<Item>[] {
  const [keys, otherKeys] = [one.map(keyOf), other.map(keyOf)]
  let start = 0
  while (start < Math.min(keys.length, otherKeys.length) && keys[start] === otherKeys[start]) start++
  const rest = (keys.length - start) * (otherKeys.length - start)
  const lengths = rest <= MAX_CELLS ? commonLengths(keys.slice(start), otherKeys.slice(start)) : undefined
  const pairs: Pair<Item>[] = one.slice(0, start).map((item, index) => [item, other[index]])
  let [i, j] = [start, start]
  while (i < one.length || j < other.length) {
    const isSame = keys[i] !== undefined && keys[i] === otherKeys[j]
    const skipped = lengths?.[i + 1 - start]?.[j - start] ?? 0
    const added = lengths?.[i - start]?.[j + 1 - start] ?? 0
    if (isSame) pairs.push([one[i++], other[j++]])
    else if (j >= other.length || (i < one.length && skipped >= added)) pairs.push([one[i++], undefined])
    else pairs.push([undefined, other[j++]])
  }
  return pairs
}

/** The length of the longest common subsequence after each pair of positions. */
function commonLengths(one: readonly string[], other: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0))
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--)
      lengths[i]![j] =
        one[i] === other[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  return lengths
}
