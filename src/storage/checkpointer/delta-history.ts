export type PendingWrite = [taskId: string, channel: string, value: unknown]

/**
 * What a channel received along a checkpoint's ancestors, oldest first, on top of `seed` if a value was
 * stored.
 */
export interface DeltaHistory {
  writes: PendingWrite[]
  seed?: unknown
}

/** An ancestor of a checkpoint, with its part of the requested channels. */
export interface Ancestor {
  readonly checkpointId: string
  /** Ordered by task, then by index. Writes to other channels are ignored. */
  readonly writes: readonly PendingWrite[]
  /** Undefined if no value was stored. */
  value(channel: string): Promise<unknown>
}

/**
 * Walks the ancestors once for all channels, nearest first. A channel's walk ends at the nearest ancestor
 * with a stored value, its seed. That ancestor's writes still count, because they produced its child.
 */
export async function collectHistory(
  channels: readonly string[],
  ancestors: AsyncIterable<Ancestor> | Iterable<Ancestor>,
): Promise<Record<string, DeltaHistory>> {
  const found = new Map<string, DeltaHistory>(channels.map((channel) => [channel, { writes: [] }]))
  const open = new Set(channels)
  for await (const { writes, value } of ancestors) {
    for (const write of writes.toReversed()) {
      if (open.has(write[1])) found.get(write[1])!.writes.push(write)
    }
    for (const channel of open) {
      const seed = await value(channel)
      if (seed === undefined) continue
      found.get(channel)!.seed = seed
      open.delete(channel)
    }
    if (open.size === 0) break
  }
  for (const history of found.values()) history.writes.reverse()
  return Object.fromEntries(found)
}
