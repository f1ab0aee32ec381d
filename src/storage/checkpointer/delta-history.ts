import type { DeltaHistory, PendingWrite } from '../memory/checkpoints.ts'

/** What an ancestor of a checkpoint has of channels. */
export interface Ancestor {
  /** By task, then place. Those of other channels do no harm. */
  readonly writes: readonly PendingWrite[]
  /** Undefined where none was stored. */
  value(channel: string): Promise<unknown>
}

/**
 * Walks ancestors, the nearest first, once for all channels. A channel's walk ends at the nearest one that stored a value, its
 * seed; the writes on that ancestor still count, for they made its child.
 */
export async function collectHistory(
  channels: readonly string[],
  ancestors: AsyncIterable<Ancestor>,
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
