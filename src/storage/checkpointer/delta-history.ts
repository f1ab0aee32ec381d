export type PendingWrite = [taskId: string, channel: string, value: unknown]

/**
 * What a channel received along the ancestors of a checkpoint, oldest first, on top of `seed` if one was
 * stored.
 */
export interface DeltaHistory {
  writes: PendingWrite[]
  seed?: unknown
}

/** What an ancestor of a checkpoint has of channels. */
export interface Ancestor {
  readonly checkpointId: string
  /** Ordered by task, then by place. Writes to channels that nobody asked for are ignored. */
  readonly writes: readonly PendingWrite[]
  /** Undefined where no value was stored. */
  value(channel: string): Promise<unknown>
}

/**
 * Walks the ancestors once for all channels, nearest first. A channel's walk ends at the nearest ancestor
 * that stored a value, its seed. That ancestor's writes still count, because they made its child.
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
