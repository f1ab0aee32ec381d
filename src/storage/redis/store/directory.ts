import type { Database } from '../database.ts'
import { type Entry, pairsOf, toUtf8 } from './entries.ts'
import { DUE, ENTER, LEAVE, SETTLE } from './scripts-directory.ts'

export interface Due {
  readonly member: string
  readonly score: number
}

/** A member to move, or to remove if it has no time. */
export interface Moved extends Due {
  readonly to?: number | undefined
}

/**
 * How long after `enter` the commit may still run. An older member that its partition does not know belongs
 * to a failed commit.
 */
export const GRACE_MS = 600_000
const BATCH = 500

export type Directory = ReturnType<typeof createDirectory>

/**
 * The sets across partitions: documents by collection and index, leases and documents by expiry time, threads
 * with checkpoints. They are in one slot, so a commit cannot write them in its own script. Instead, a member
 * is entered before the commit that needs it, and removed after the commit that invalidates it. So the sets
 * have all required members, sometimes extra ones, and a reader checks the partition.
 */
export function createDirectory({ run, later }: Database) {
  async function inBatches<T>(items: readonly T[], work: (batch: readonly T[]) => Promise<unknown>) {
    for (let at = 0; at < items.length; at += BATCH) await work(items.slice(at, at + BATCH))
  }

  /** The sets of the entries, and for each entry the number of its set in Lua. */
  function setsOf(entries: readonly Entry[]) {
    const sets = [...new Set(entries.map(({ set }) => set))]
    return { sets, numberOf: (set: string) => String(sets.indexOf(set) + 1) }
  }

  const remove = (entries: readonly Entry[]): Promise<void> =>
    inBatches(entries, (batch) => {
      const { sets, numberOf } = setsOf(batch)
      const args = batch.flatMap(({ set, member }) => [numberOf(set), member])
      return run({ script: LEAVE, keys: sets, args })
    })

  return {
    /** Returns the server's time, and the entries that did not exist before. */
    async enter(entries: readonly Entry[], signal?: AbortSignal | undefined) {
      let time = ''
      const added: Entry[] = []
      await inBatches(entries, async (batch) => {
        const { sets, numberOf } = setsOf(batch)
        const args = batch.flatMap(({ set, ttlMs = '', member, tail = '' }) => [
          ...[numberOf(set), String(ttlMs), member, tail],
        ])
        const answer = await run({ script: ENTER, keys: sets, args: [time, ...args], signal })
        const [now, ...places] = answer as [number, ...number[]]
        time = String(now)
        for (const place of places) added.push(batch[place]!)
      })
      return { now: Number(time), added }
    },
    remove,
    /** Removes entries without being awaited: an extra member is harmless. */
    leave(entries: readonly Entry[]): void {
      if (entries.length > 0) later(() => remove(entries))
    },
    /** The due members of a set ordered by time, earliest first. */
    async due(set: string, skip: number, count: number) {
      const answer = await run({ script: DUE, keys: [set], args: [String(skip), String(count)] })
      const [now, ...flat] = answer as [number, ...Uint8Array[]]
      const members = pairsOf(flat).map(([member, score]): Due => {
        return { member: toUtf8(member), score: Number(toUtf8(score)) }
      })
      return { now: Number(now), members }
    },
    /** Moves or removes members, unless another process has moved them meanwhile. */
    settle: (set: string, changes: readonly Moved[]): Promise<void> =>
      inBatches(changes, (batch) => {
        const args = batch.flatMap(({ member, score, to = '' }) => [member, String(score), String(to)])
        return run({ script: SETTLE, keys: [set], args })
      }),
  }
}
