export type SortedList<T> = ReturnType<typeof createSortedList<T>>

const MAX_CHUNK = 512

/**
 * Ordered items in short chunks. The cost of adding, removing and finding barely grows with their number.
 * `items` must be sorted.
 */
export function createSortedList<T>(compare: (a: T, b: T) => number, items: readonly T[]) {
  const chunks: T[][] = []
  for (let at = 0; at < items.length; at += MAX_CHUNK) chunks.push(items.slice(at, at + MAX_CHUNK))
  let size = items.length

  /** The chunk and index of the first item for which `isBefore` is false. */
  function find(isBefore: (item: T) => boolean): [chunk: number, place: number] {
    const chunk = partitionPoint(chunks, (items) => isBefore(items[items.length - 1]!))
    return [chunk, chunk < chunks.length ? partitionPoint(chunks[chunk]!, isBefore) : 0]
  }

  function insert(item: T): void {
    let [at, place] = find((other) => compare(other, item) < 0)
    if (at === chunks.length) {
      if (at === 0) chunks.push([])
      else at -= 1
      place = chunks[at]!.length
    }
    const chunk = chunks[at]!
    chunk.splice(place, 0, item)
    if (chunk.length > MAX_CHUNK) chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK / 2))
  }

  return {
    size: (): number => size,
    add(item: T): void {
      const last = chunks.at(-1)
      // Most lists are ordered by time, and a new item is the newest.
      if (last && last.length < MAX_CHUNK && compare(last[last.length - 1]!, item) < 0) last.push(item)
      else insert(item)
      size += 1
    },
    /** Removes the item that compares as equal. */
    remove(item: T): void {
      const [at, place] = find((other) => compare(other, item) < 0)
      const chunk = chunks[at]
      if (!chunk || compare(chunk[place]!, item) !== 0) return
      chunk.splice(place, 1)
      size -= 1
      if (chunk.length === 0) chunks.splice(at, 1)
    },
    /** The number of leading items for which `isBefore` is true. It must be false for all others. */
    rank(isBefore: (item: T) => boolean): number {
      const [at, place] = find(isBefore)
      return chunks.slice(0, at).reduce((sum, { length }) => sum + length, place)
    },
    /** The items from a position to the end, or to the start if descending. */
    *from(place: number, descending: boolean): Iterable<T> {
      let at = 0
      let i = place
      while (at < chunks.length && i >= chunks[at]!.length) i -= chunks[at++]!.length
      if (descending) {
        for (; at >= 0 && i >= 0; i = (chunks[--at]?.length ?? 0) - 1)
          for (; i >= 0; i--) yield chunks[at]![i]!
      } else {
        for (; at < chunks.length; at++, i = 0) for (; i < chunks[at]!.length; i++) yield chunks[at]![i]!
      }
    },
  }
}

function partitionPoint<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
