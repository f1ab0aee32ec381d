import { isObject, type JsonObject } from './json.ts'

/** One difference between two states. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  /** Keys, and positions in lists. */
  readonly path: readonly (string | number)[]
  readonly before?: unknown
  readonly after?: unknown
}

/** More would be unreadable, and slow to show. */
const MAX_CHANGES = 500

/** How the second value differs from the first, in its order. Items of lists are compared by their ids. */
export function diff(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = []
  compare(before, after, [], changes)
  return changes
}

function compare(before: unknown, after: unknown, path: Change['path'], changes: Change[]): void {
  // JSON has one zero.
  if (before === after || changes.length >= MAX_CHANGES) return
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, changes)
  else if (isObject(before) && isObject(after)) compareObjects(before, after, path, changes)
  else changes.push({ kind: 'changed', path, before, after })
}

function compareObjects(
  before: JsonObject,
  after: JsonObject,
  path: Change['path'],
  changes: Change[],
): void {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  for (const key of removed) add(changes, { kind: 'removed', path: [...path, key], before: before[key] })
  for (const key of Object.keys(after)) {
    const at = [...path, key]
    if (Object.hasOwn(before, key)) compare(before[key], after[key], at, changes)
    else add(changes, { kind: 'added', path: at, after: after[key] })
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Change['path'],
  changes: Change[],
): void {
  const keysBefore = keysOf(before)
  const keysAfter = keysOf(after)
  const wasAt = new Map(keysBefore.map((key, index) => [key, index]))
  const isAt = new Map(keysAfter.map((key, index) => [key, index]))
  for (const [index, key] of keysBefore.entries())
    if (!isAt.has(key)) add(changes, { kind: 'removed', path: [...path, index], before: before[index] })
  for (const [index, key] of keysAfter.entries()) {
    const was = wasAt.get(key)
    const at = [...path, index]
    if (was === undefined) add(changes, { kind: 'added', path: at, after: after[index] })
    else compare(before[was], after[index], at, changes)
  }
}

function add(changes: Change[], change: Change): void {
  if (changes.length < MAX_CHANGES) changes.push(change)
}

/** The keys that tell the items of a list apart: their ids where all have unique ones, else their indexes. */
function keysOf(list: readonly unknown[]): readonly unknown[] {
  const ids = list.map((item) => (isObject(item) && typeof item.id === 'string' ? item.id : undefined))
  const areKeys = !ids.includes(undefined) && new Set(ids).size === ids.length
  return areKeys ? ids : list.map((_, index) => index)
}

/** A path as JavaScript writes it, such as `messages[2].content`. */
export const pathText = (path: Change['path']): string =>
  path
    .map((key, index) =>
      typeof key === 'number'
        ? `[${key}]`
        : /^[A-Za-z_$][\w$]*$/.test(key)
          ? `${index > 0 ? '.' : ''}${key}`
          : `[${JSON.stringify(key)}]`,
    )
    .join('') || '(all)'

/** Two corresponding items, or an item that only one list has. */
type Pair<Item> = readonly [one: Item | undefined, other: Item | undefined]

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
