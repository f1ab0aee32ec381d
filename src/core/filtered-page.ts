/** The maximum number of items that a request looks at, if nothing else is said. */
export const MAX_LOOKED_AT = 10_000

interface PageRange {
  /** How many matching items to skip. `Infinity` only counts. */
  readonly offset: number
  readonly limit: number
  /** The maximum number of items to look at, matching or not. */
  readonly lookAt?: number
  /** The number of matches after which the search ends. Default: one after the page, which shows that another page follows. */
  readonly countTo?: number
}

export interface FilteredPage<T> {
  readonly items: T[]
  /** The number of matches, up to `countTo`. */
  readonly total: number
  /** How many items it has looked at. */
  readonly looked: number
}

/** A page of the matching items of a list that cannot be searched. */
export async function filteredPage<T>(
  list: Iterable<T> | AsyncIterable<T>,
  matches: (item: T) => boolean | Promise<boolean>,
  { offset, limit, lookAt = MAX_LOOKED_AT, countTo = offset + limit + 1 }: PageRange,
): Promise<FilteredPage<T>> {
  const items: T[] = []
  let total = 0
  let looked = 0
  for await (const item of list) {
    if ((await matches(item)) && ++total > offset && items.length < limit) items.push(item)
    if (++looked >= lookAt || total >= countTo) break
  }
  return { items, total, looked }
}
