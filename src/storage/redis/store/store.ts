import { concatBytes } from '../../../bytes.ts'
import { DATABASE } from '../../checkpointer/fenced.ts'
import { UnavailableError } from '../../errors.ts'
import { changeBy, checkFence, leaseOf, type PreparedOp, prepareOps } from '../../store/commit.ts'
import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import type {
  Change,
  Committed,
  LogBatch,
  PartitionChange,
  PartitionState,
  ReadQuery,
  Store,
} from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { encodeAppend, encodeChange, entriesFor, leaseEntry, throwRefusal } from './change.ts'
import { type Directory, GRACE_MS } from './directory.ts'
import { type Entry, fieldOf, readDocument, toUtf8 } from './entries.ts'
import { expiredLeases } from './leases.ts'
import { listDocuments } from './list.ts'
import type { Notifier } from './notifier.ts'
import { expireLogs } from './retention.ts'
import { APPEND, COMMIT } from './scripts-commit.ts'
import { DOCUMENTS, INSPECT, READ, TRIM } from './scripts-store.ts'
import { forgetGone, goneOf, settleCommits, unsettledEntry } from './settle.ts'
import { sweepDocuments } from './sweep.ts'

interface RedisStore extends Store {
  readonly [DATABASE]: object
}

/** Long enough to spare the server most commits of a token stream, short enough not to be seen. */
const COALESCE_MS = 10
const EVENTS: PartitionChange = { log: true, docs: false }

export function createStore(
  database: Database,
  directory: Directory,
  notifier: Notifier,
  retention: RetentionOptions,
  close: () => Promise<void>,
): RedisStore {
  const { keys, run } = database
  /** With a number, it makes the stamps of this process's puts unique. */
  const writer = crypto.randomUUID().slice(0, 8)
  let puts = 0
  /** Reads that were asked for in this turn of the event loop. Readers that ask for the same share one answer. */
  const asked = new Map<string, Promise<LogBatch>>()

  async function inspect(partition: string): Promise<PartitionState> {
    const { meta } = keys.partition(partition)
    const answer = await run({ script: INSPECT, keys: [meta] })
    const [now, head, firstRetained, token, owner, held, ends] = answer as [
      number,
      number,
      number,
      number,
      Uint8Array,
      number,
      number,
    ]
    const lease = held === 0 ? undefined : leaseOf(partition, fromText(toUtf8(owner)), held, ends)
    return { head, firstRetained, token, lease, now }
  }

  async function read(partition: string, query: ReadQuery): Promise<LogBatch> {
    const { meta, log } = keys.partition(partition)
    const { limit, maxBytes } = readBounds(query)
    const args = [String(query.after), String(limit), String(maxBytes)]
    return readAnswer((await run({ script: READ, keys: [meta, log], args })) as unknown[], query)
  }

  async function commit(
    partition: string,
    { guards = [], signal }: Change,
    ops: readonly PreparedOp[],
  ): Promise<Committed> {
    const names = keys.partition(partition)
    const first = puts
    puts += ops.length
    const tailOf = (place: number) => `.${writer}${(first + place).toString(36)}`
    const entries = entriesFor(keys, partition, ops, tailOf)
    const unsettled = unsettledEntry(keys, partition, ops, tailOf)
    if (unsettled) entries.unshift(unsettled)
    const { now: entered, added } =
      entries.length === 0 ? { added: [] } : await directory.enter(entries, signal)
    const memberOf = ({ member, tail }: Entry) => `${member}${entered}${tail}`
    const change = encodeChange(guards, ops, (place) => `${entered}${tailOf(place)}`)
    const changed = changeBy(ops)
    const until = entered === undefined ? '' : String(entered + GRACE_MS)
    const answer = (await run({
      script: COMMIT,
      keys: [names.meta, names.log, names.docs, names.gone],
      args: [names.channel, notifier.message(changed), until, ...change],
      mutates: true,
      signal,
    })) as [number, ...unknown[]]
    if (answer[0] !== 1) {
      const own = entries.filter(({ tail }) => tail !== undefined)
      directory.leave(own.map((entry) => ({ set: entry.set, member: memberOf(entry) })))
      leaveLeases(added, entered!)
      if (answer[0] === 0) throwRefusal(partition, guards, ops, answer)
      throw new UnavailableError('The commit reached Redis too late.', { written: 'no' })
    }
    const [, head, versions = [], gone = [], freed = []] = answer as [
      number,
      number,
      number[]?,
      Uint8Array[]?,
      number[]?,
    ]
    const freedEntries = freed.map((token) => leaseEntry(keys, partition, token))
    if (unsettled) {
      const kept = gone.flatMap((field, i) => (i % 2 ? [] : [goneOf(toUtf8(field), gone[i + 1]!)]))
      database.later(async () => {
        await forgetGone(database, directory, partition, kept, freedEntries)
        await directory.remove([{ set: unsettled.set, member: memberOf(unsettled) }])
      })
    } else directory.leave(freedEntries)
    if (isEmptied(ops)) {
      const due = { member: toText(partition), score: entered!, to: undefined }
      database.later(() => directory.settle(keys.logs, [due]))
    }
    if (ops.length > 0) notifier.notify(partition, changed)
    return { head, versions }
  }

  /** Another process may have entered a lease with the same token since, or may hold it: then it was not added here, or it has moved. */
  function leaveLeases(added: readonly Entry[], entered: number): void {
    const leases = added.filter(({ set }) => set === keys.leases)
    if (leases.length === 0) return
    const changes = leases.map(({ member, ttlMs }) => ({ member, score: entered + ttlMs!, to: undefined }))
    database.later(() => directory.settle(keys.leases, changes))
  }

  return {
    [DATABASE]: database,
    capabilities: { name: 'redis', shared: true, durable: true, coalesceMs: COALESCE_MS },
    async get(partition, collection, id) {
      const { docs } = keys.partition(partition)
      const answer = await run({ script: DOCUMENTS, keys: [docs], args: [fieldOf(collection, id)] })
      const [now, bytes] = answer as [number, Uint8Array | null]
      const kept = bytes && readDocument(partition, id, bytes)
      return kept && (kept.expiresAt === 0 || kept.expiresAt > now) ? kept.doc : undefined
    },
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
      if (events) {
        const { meta, log, channel } = keys.partition(partition)
        const args = [channel, notifier.message(EVENTS), ...events]
        const { signal } = change
        const head = (await run({ script: APPEND, keys: [meta, log], args, mutates: true, signal })) as number
        if (head >= 0) {
          notifier.notify(partition, EVENTS)
          return { head, versions: [] }
        }
        // A guard did not hold, and the other script finds out which.
      }
      return commit(partition, change, ops)
    },
    async read(partition, query) {
      database.assertOpen()
      const question = JSON.stringify([partition, query.after, query.limit, query.maxBytes])
      const known = asked.get(question)
      if (known) return known
      const answer = read(partition, query)
      asked.set(question, answer)
      queueMicrotask(() => asked.delete(question))
      return answer
    },
    inspect,
    async assertFence(partition, token) {
      const { lease, now } = await inspect(partition)
      checkFence(partition, token, lease, now)
    },
    watch(partition, listener) {
      database.assertOpen()
      return notifier.watch(partition, listener)
    },
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
    setup: () => database.setup(),
    close,
  }
}

/** Whether nothing is left of the log. */
function isEmptied(ops: readonly PreparedOp[]): boolean {
  const last = ops.findLast(({ op }) => op === 'append' || op === 'clear')
  return last?.op === 'clear'
}

/** The batch in an answer of the script `READ`. */
function readAnswer(answer: readonly unknown[], query: ReadQuery): LogBatch {
  const [head, firstRetained, firstLast, layoutBytes, parts] = answer as [
    number,
    number,
    number?,
    Uint8Array?,
    Uint8Array[]?,
  ]
  const layouts = layoutBytes ? (JSON.parse(`[${toUtf8(layoutBytes)}]`) as Layout[]) : []
  const first = layouts.length === 0 ? 0 : firstLast! - layouts[0]![3].length + 1
  const bytes = (start: number, end: number) => {
    const whole = concatBytes(parts!)
    return new Uint8Array(whole.buffer, whole.byteOffset + start, end - start)
  }
  return toBatch({ head, firstRetained, first, layouts, bytes }, query)
}
