/** The places of the items of a stream. Most servers number them; others only give them ids, or neither. */
export interface Places {
  /**
   * The place of an item: its number or, without one, that of an item with one of the ids, or else of the last
   * unfinished one of its kind.
   */
  placeOf(index: unknown, ids: readonly unknown[], kind: string): number
  finish(place: number, kind: string): void
  /** The places of all items, in their order in the complete response. Ids tell before the order does. */
  placesOf(items: readonly (readonly unknown[])[]): readonly number[]
}

export function createPlaces(): Places {
  /** The places of each id. A model may give one id twice. */
  const known = new Map<unknown, number[]>()
  const unfinished = new Map<string, number>()
  let next = 0

  const placesOfIds = (ids: readonly unknown[]): readonly number[] =>
    ids.flatMap((id) => (id ? (known.get(id) ?? []) : []))

  /** The place of the item that the first known id was given last. */
  const find = (ids: readonly unknown[]): number | undefined => {
    for (const id of ids) if (id && known.has(id)) return known.get(id)!.at(-1)
    return undefined
  }

  return {
    placeOf(index, ids, kind) {
      const isNamed = ids.some(Boolean)
      const place =
        typeof index === 'number'
          ? index
          : (find(ids) ?? (isNamed ? undefined : unfinished.get(kind)) ?? next)
      next = Math.max(next, place + 1)
      for (const id of ids) if (id && find([id]) !== place) known.set(id, [...(known.get(id) ?? []), place])
      unfinished.set(kind, place)
      return place
    },
    finish(place, kind) {
      if (unfinished.get(kind) === place) unfinished.delete(kind)
    },
    placesOf(items) {
      const taken = new Set<number>()
      const found = items.map((ids) => {
        const place = placesOfIds(ids).find((place) => !taken.has(place))
        if (place !== undefined) taken.add(place)
        return place
      })
      return found.map((place, at) => {
        if (place !== undefined) return place
        const free = taken.has(at) ? next : at
        taken.add(free)
        next = Math.max(next, free + 1)
        return free
      })
    },
  }
}
