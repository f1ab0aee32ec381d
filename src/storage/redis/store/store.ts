import { concatBytes } from '../../../core/bytes.ts'
import type { StoreCalls } from '../../durable-storage.ts'
import { UnavailableError } from '../../errors.ts'
import { changeBy, type PreparedOp, prepareOps } from '../../store/commit.ts'
import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import { shareReads } from '../../store/pages.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import type {
  Change,
  Committed,
  Doc,
  DocKey,
  DocPlace,
  Inspection,
  LogBatch,
  PartitionChange,
  ReadQuery,
} from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Argument } from '../connection.ts'
import type { Database } from '../database.ts'
import {
  encodeAppend,
  encodeChange,
  entriesFor,
  leaseEntry,
  readState,
  type StateAnswer,
  throwRefusal,
} from './change.ts'
import { type Directory, GRACE_MS } from './directory.ts'
import {
  type Entry,
  fieldOf,
  inGroups,
  isExpired,
  loadFields,
  pairsOf,
  readDocument,
  toUtf8,
} from './entries.ts'
import { expiredLeases, expireLogs, sweepDocuments } from './expiry.ts'
import { listDocuments } from './list.ts'
import type { Notifier } from './notifier.ts'
import { APPEND, COMMIT } from './scripts-commit.ts'
import { INSPECT, READ, TRIM } from './scripts-store.ts'
import { forgetGone, goneOf, settleCommits, unsettledEntry } from './settle.ts'

const EVENTS: PartitionChange = { log: true, docs: false }

/** From the script `COMMIT`: done, rejected, or too late. */
type CommitAnswer =
  | readonly [1, head: number, versions?: number[], gone?: Uint8Array[], freed?: number[]]
  | readonly [0, place: number, seen: number, ...StateAnswer]
  | readonly [-1]

/** What a call of the store uses. */
interface Parts {
  readonly database: Database
  readonly directory: Directory
  readonly notifier: Notifier
  /** With a number, it makes the stamps of this process's puts unique. */
  readonly writer: string
  puts: number
}

export function createStore(
  database: Database,
  directory: Directory,
  notifier: Notifier,
  retention: RetentionOptions,
): StoreCalls {
  const { keys, run } = database
  const writer = crypto.randomUUID().slice(0, 8)
  const parts: Parts = { database, directory, notifier, writer, puts: 0 }
  const inspect: StoreCalls['inspect'] = (partition, wanted = []) => inspectIn(database, partition, wanted)
  /** Callers that read the same in one turn of the event loop share a response. */
  const read = shareReads((partition, query, onSend) => readLog(database, partition, query, onSend))

  return {
    get: async (partition, collection, id) => (await liveDocuments(database, partition, collection, [id]))[0],
    getMany: (collection, places) =>
      inGroups(places, placePartition, (partition, group) => {
        const ids = group.map(({ id }) => id)
        return liveDocuments(database, partition, collection, ids)
      }),
    async list(collection, query = {}) {
      database.assertOpen()
      return listDocuments(database, directory, collection, query)
    },
    async count(collection, field) {
      const set = keys.collection(collection, field)
      return Number(await database.send(['ZCARD', set], set))
    },
    async commit(partition, change) {
      database.assertOpen()
      const ops = prepareOps(change)
      const events = encodeAppend(change.guards, ops)
      const head = events ? await append(parts, partition, change, events) : -1
      // Below 0 a guard failed, and the other script finds out which.
      return head >= 0 ? { head, versions: [] } : commit(parts, partition, change, ops)
    },
    async read(partition, query) {
      database.assertOpen()
      return read(partition, query)
    },
    inspect,
    async expired({ limit = 100 } = {}) {
      database.assertOpen()
      return expiredLeases(database, directory, inspect, limit)
    },
    async trim(partition, bound) {
      const { meta, log } = keys.partition(partition)
      const args = 'keepLast' in bound ? [String(bound.keepLast), ''] : ['', String(bound.olderThanMs)]
      await run({ script: TRIM, keys: [meta, log], args, mutates: true })
    },
    async sweep() {
      database.assertOpen()
      await sweepDocuments(database, directory)
      await settleCommits(database, directory)
      await expireLogs(database, directory, retention)
    },
  }
}

const placePartition = ({ partition }: DocPlace): string => partition

async function inspectIn(
  { keys, run }: Database,
  partition: string,
  wanted: readonly DocKey[],
): Promise<Inspection> {
  const { meta, docs: hash } = keys.partition(partition)
  const args = wanted.map(({ collection, id }) => fieldOf(collection, id))
  const answer = await run({ script: INSPECT, keys: [meta, hash], args })
  const [state, ...found] = answer as [StateAnswer, ...(Uint8Array | null)[]]
  const docs = wanted.map(({ id }, at) => liveDocument(partition, id, found[at]!, state[0]))
  return { ...readState(partition, state), docs }
}

async function liveDocuments(
  database: Database,
  partition: string,
  collection: string,
  ids: readonly string[],
): Promise<(Doc | undefined)[]> {
  const fields = ids.map((id) => fieldOf(collection, id))
  const { now, found } = await loadFields(database, database.keys.partition(partition).docs, fields)
  return ids.map((id, at) => liveDocument(partition, id, found[at]!, now))
}

function liveDocument(partition: string, id: string, found: Uint8Array | null, now: number) {
  const kept = found && readDocument(partition, id, found)
  return kept && !isExpired(kept, now) ? kept.doc : undefined
}

async function readLog({ keys, run }: Database, partition: string, query: ReadQuery, onSend: () => void) {
  queueMicrotask(onSend)
  const { meta, log } = keys.partition(partition)
  const { limit, maxBytes } = readBounds(query)
  const args = [String(query.after), String(limit), String(maxBytes)]
  return readBatch((await run({ script: READ, keys: [meta, log], args })) as ReadAnswer, query)
}

/** The log's head after an append, or a negative number if a guard failed. */
async function append(
  { database: { keys, run }, notifier }: Parts,
  partition: string,
  { signal }: Change,
  events: readonly Argument[],
): Promise<number> {
  const { meta, log, channel } = keys.partition(partition)
  const args = [channel, notifier.message(EVENTS), ...events]
  const head = (await run({ script: APPEND, keys: [meta, log], args, mutates: true, signal })) as number
  if (head >= 0) notifier.notify(partition, EVENTS)
  return head
}

async function commit(
  parts: Parts,
  partition: string,
  { guards = [], signal }: Change,
  ops: readonly PreparedOp[],
): Promise<Committed> {
  const { database, directory, notifier, writer, puts: first } = parts
  const { keys, run } = database
  const names = keys.partition(partition)
  parts.puts += ops.length
  const tailOf = (place: number) => `.${writer}${(first + place).toString(36)}`
  const entries = entriesFor(keys, partition, ops, tailOf)
  const unsettled = unsettledEntry(keys, partition, ops, tailOf)
  if (unsettled) entries.unshift(unsettled)
  const { now: entered, added } =
    entries.length === 0 ? { added: [] } : await directory.enter(entries, signal)
  const memberOf = ({ member, tail }: Entry) => `${member}${entered}${tail}`
  const changed = changeBy(ops)
  const until = entered === undefined ? '' : String(entered + GRACE_MS)
  const change = encodeChange(guards, ops, (place) => `${entered}${tailOf(place)}`)
  const answer = (await run({
    script: COMMIT,
    keys: [names.meta, names.log, names.docs, names.gone],
    args: [names.channel, notifier.message(changed), until, ...change],
    mutates: true,
    signal,
  })) as CommitAnswer
  if (answer[0] !== 1) {
    const own = entries.filter(({ tail }) => tail !== undefined)
    directory.leave(own.map((entry) => ({ set: entry.set, member: memberOf(entry) })))
    leaveLeases(database, directory, added, entered!)
    const [refused, ...state] = answer
    if (refused === 0) throwRefusal(partition, guards, ops, state as [number, number, ...StateAnswer])
    throw new UnavailableError('The commit reached Redis too late.', { written: 'no' })
  }
  const [, head, versions = [], gone = [], freed = []] = answer
  const freedEntries = freed.map((token) => leaseEntry(keys, partition, token))
  if (unsettled) {
    const kept = pairsOf(gone).map(([field, lines]) => goneOf(toUtf8(field), lines))
    database.later(async () => {
      await forgetGone(database, directory, partition, kept, freedEntries)
      await directory.remove([{ set: unsettled.set, member: memberOf(unsettled) }])
    })
  } else directory.leave(freedEntries)
  if (isEmptied(ops))
    database.later(() => directory.settle(keys.logs, [{ member: toText(partition), score: entered! }]))
  if (ops.length > 0) notifier.notify(partition, changed)
  return { head, versions }
}

/**
 * Removes the directory entries of leases, except those that another process has since entered with the
 * same token, or holds: those were moved.
 */
function leaveLeases(
  { keys, later }: Database,
  directory: Directory,
  added: readonly Entry[],
  entered: number,
): void {
  const leases = added.filter(({ set }) => set === keys.leases)
  if (leases.length === 0) return
  const changes = leases.map(({ member, ttlMs }) => ({ member, score: entered + ttlMs! }))
  later(() => directory.settle(keys.leases, changes))
}

/** Whether the ops empty the log. */
function isEmptied(ops: readonly PreparedOp[]): boolean {
  const last = ops.findLast(({ op }) => op === 'append' || op === 'clear')
  return last?.op === 'clear'
}

/** From the script `READ`. */
type ReadAnswer = readonly [
  ...[head: number, firstRetained: number],
  ...[firstLast?: number, layouts?: Uint8Array, parts?: Uint8Array[]],
]

function readBatch([head, firstRetained, firstLast, text, parts]: ReadAnswer, query: ReadQuery): LogBatch {
  const layouts = text ? (JSON.parse(`[${toUtf8(text)}]`) as Layout[]) : []
  const first = layouts.length === 0 ? 0 : firstLast! - layouts[0]![3].length + 1
  const bytes = (start: number, end: number) => {
    const whole = concatBytes(parts!)
    return new Uint8Array(whole.buffer, whole.byteOffset + start, end - start)
  }
  return toBatch({ head, firstRetained, first, layouts, bytes }, query)
}
