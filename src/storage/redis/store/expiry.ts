import { applyRetention, type RetainedLog, type RetentionOptions } from '../../store/retention.ts'
import type { LeaseRecord, Store } from '../../store/store.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import { type Directory, type Due, GRACE_MS, type Moved } from './directory.ts'
import {
  type Entry,
  entriesOf,
  expiringEntry,
  fieldOf,
  inGroups,
  readExpiring,
  readLines,
  timeOf,
} from './entries.ts'
import { DROP_CHUNKS, EXPIRE } from './scripts-store.ts'

const PAGE = 200

interface Log extends RetainedLog {
  readonly due: Due
}

export async function expireLogs(
  { run, keys }: Database,
  directory: Directory,
  options: RetentionOptions,
): Promise<void> {
  const empty: Due[] = []

  /** Without arguments, it only reads. */
  async function drop(due: Due, args: readonly string[] = []) {
    const { meta, log } = keys.partition(fromText(due.member))
    const answer = await run({ script: DROP_CHUNKS, keys: [meta, log], args, mutates: args.length > 0 })
    const [starts, ends = 0, oldestAt = 0, newestAt = 0, held, more] = answer as number[]
    if (starts === undefined) {
      empty.push(due)
      return { log: undefined, isMore: false }
    }
    const found: Log = { due, starts, ends, oldestAt, newestAt, isLeased: held === 1 }
    return { log: found, isMore: more === 1 }
  }

  await applyRetention(options, {
    async *pages() {
      for (let seen = 0, isLast = false; !isLast; ) {
        const { now, members } = await directory.due(keys.logs, seen, PAGE)
        isLast = members.length < PAGE
        seen += members.length
        const found = await Promise.all(members.map(async (due) => (await drop(due)).log))
        yield { now, logs: found.filter((log) => log !== undefined) }
      }
    },
    async drop({ due, starts }: Log, { since, from, keepsLast }) {
      for (let at = starts; ; ) {
        const args = [String(at), textOf(since), textOf(from), keepsLast ? '1' : '']
        const { log, isMore } = await drop(due, args)
        if (!log || !isMore) return log
        at = log.starts
      }
    },
  })
  await directory.settle(keys.logs, empty)
}

/** Lua cannot parse infinity. */
const textOf = (value: number): string => (Number.isFinite(value) ? String(value) : '')

/** Removes expired documents, then their directory entries. */
export async function sweepDocuments({ keys, run }: Database, directory: Directory): Promise<void> {
  const kept = new Set<string>()
  for (let isLast = false; !isLast; ) {
    const { now, members } = await directory.due(keys.expiring, kept.size, PAGE)
    isLast = members.length < PAGE
    const places = members.map(({ member }) => readExpiring(member))
    const answers = await inGroups(
      places,
      ({ partition }) => partition,
      async (partition, group) => {
        const { docs } = keys.partition(partition)
        const args = group.flatMap(({ collection, id, stamp }) => [fieldOf(collection, id), stamp])
        return (await run({ script: EXPIRE, keys: [docs], args, mutates: true })) as unknown[]
      },
    )
    const over: Entry[] = []
    for (const [i, place] of places.entries()) {
      const lines = answers[i]
      if (lines instanceof Uint8Array)
        for (const entry of entriesOf(keys, place, readLines(lines).index)) over.push(entry)
      const isUnknown = lines === null && timeOf(place.stamp) < now - GRACE_MS
      if (lines instanceof Uint8Array || isUnknown) over.push(expiringEntry(keys, place))
      else kept.add(members[i]!.member)
    }
    await directory.remove(over)
  }
}

/** The directory may list leases before they expire, and released ones. Wrong entries are corrected. */
export async function expiredLeases(
  { keys }: Database,
  directory: Directory,
  inspect: Store['inspect'],
  limit: number,
): Promise<LeaseRecord[]> {
  const expired: LeaseRecord[] = []
  const wrong: Moved[] = []
  for (let seen = 0; ; ) {
    const { now, members } = await directory.due(keys.leases, seen, PAGE)
    await Promise.all(
      members.map(async (due) => {
        const [name, tokenText] = due.member.split('\0') as [string, string]
        const token = Number(tokenText)
        const state = await inspect(fromText(name))
        const { lease } = state
        if (lease?.token !== token) {
          // No process can take a lease with a token that was already issued, or this late.
          if (token <= state.token || due.score < now - GRACE_MS) wrong.push(due)
        } else if (lease.expiresAt > state.now) wrong.push({ ...due, to: lease.expiresAt })
        else expired.push(lease)
      }),
    )
    seen += members.length
    // A lease never expires before its time in the directory, so the remaining ones expire after the last one
    // read.
    expired.sort((a, b) => a.expiresAt - b.expiresAt)
    const last = members.at(-1)
    if (members.length < PAGE || (expired.length >= limit && expired[limit - 1]!.expiresAt <= last!.score))
      break
  }
  if (wrong.length > 0) await directory.settle(keys.leases, wrong)
  return expired.slice(0, limit)
}
