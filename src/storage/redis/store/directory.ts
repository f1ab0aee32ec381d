import type { Database } from '../database.ts'
import { type Entry, toUtf8 } from './entries.ts'
import { DUE, ENTER, LEAVE, SETTLE } from './scripts-directory.ts'

/**
 * The sets across partitions: documents by collection and index, leases and documents by when they expire, threads with
 * checkpoints. They are in one slot, so a commit cannot write them in its own script. Instead a member is entered before the
 * commit that needs it, and leaves after the one that makes it wrong: the sets have all that they must have, at times more,
 * and a reader checks the partition, which is right.
 */
export interface Directory {
  /** Gives the time by the server, and the entries that were not there before. */
  enter(entries: readonly Entry[], signal?: AbortSignal | undefined): Promise<Entered>
  remove(entries: readonly Entry[]): Promise<void>
  /** Removes them without being waited for: a member too many does no harm. */
  leave(entries: readonly Entry[]): void
  /** Members of a set by time that are due, the earliest first. */
  due(
    set: string,
    skip: number,
    count: number,
  ): Promise<{ readonly now: number; readonly members: readonly Due[] }>
  /** Moves members, or removes those without a time, unless another process has moved them meanwhile. */
  settle(set: string, changes: readonly (Due & { readonly to: number | undefined })[]): Promise<void>
}

interface Entered {
  readonly now: number
  readonly added: readonly Entry[]
}

export interface Due {
  readonly member: string
  readonly score: number
}

/**
 * How long after `enter` the commit may still be done, in milliseconds. A member that is older than that and that no partition
 * knows belongs to a commit that failed.
 */
export const GRACE_MS = 600_000
/** Members in one call. */
const BATCH = 500

export function createDirectory(database: Database): Directory {
  async function inBatches<T>(
    items: readonly T[],
    work: (batch: readonly T[]) => Promise<unknown>,
  ): Promise<void> {
    for (let at = 0; at < items.length; at += BATCH) await work(items.slice(at, at + BATCH))
  }

  function remove(entries: readonly Entry[]): Promise<void> {
    return inBatches(entries, (batch) => {
      const sets = [...new Set(batch.map(({ set }) => set))]
      const args = batch.flatMap(({ set, member }) => [String(sets.indexOf(set) + 1), member])
      return database.run({ script: LEAVE, keys: sets, args })
    })
  }

  return {
    async enter(entries, signal) {
      let time = ''
      const added: Entry[] = []
      await inBatches(entries, async (batch) => {
        const sets = [...new Set(batch.map(({ set }) => set))]
        const args = batch.flatMap(({ set, ttlMs, member, tail }) => [
          String(sets.indexOf(set) + 1),
          ttlMs === undefined ? '' : String(ttlMs),
          member,
          tail ?? '',
        ])
        const answer = await database.run({ script: ENTER, keys: sets, args: [time, ...args], signal })
        const [now, ...places] = answer as [number, ...number[]]
        time = String(now)
        added.push(...places.map((place) => batch[place]!))
      })
      return { now: Number(time), added }
    },
    remove,
    leave(entries) {
      if (entries.length > 0) database.later(() => remove(entries))
    },
    async due(set, skip, count) {
      const answer = await database.run({ script: DUE, keys: [set], args: [String(skip), String(count)] })
      const [now, ...flat] = answer as [number, ...Uint8Array[]]
      const members: Due[] = []
      for (let i = 0; i < flat.length; i += 2) {
        members.push({ member: toUtf8(flat[i]!), score: Number(toUtf8(flat[i + 1]!)) })
      }
      return { now: Number(now), members }
    },
    settle: (set, changes) =>
      inBatches(changes, (batch) => {
        const args = batch.flatMap(({ member, score, to }) => [
          member,
          String(score),
          to === undefined ? '' : String(to),
        ])
        return database.run({ script: SETTLE, keys: [set], args })
      }),
  }
}
