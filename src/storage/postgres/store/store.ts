import type { StoreCalls } from '../../durable-storage.ts'
import { type DocumentSchema, listStatement } from '../../sql/list-documents.ts'
import { changeBy, leaseOf, prepareOps } from '../../store/commit.ts'
import { toPage } from '../../store/cursor.ts'
import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import { shareReads } from '../../store/pages.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import type { Change, Committed, Doc, DocKey, Inspection, LeaseRecord, ReadQuery } from '../../store/store.ts'
import { type Database, numbered, readNumbers } from '../database.ts'
import type { Row } from '../pool.ts'
import { fromText, keyOf, readNames } from '../text.ts'
import { encodeAppend, encodeChange, sortedBy, throwRefusal } from './change.ts'
import type { Notifier } from './notifier.ts'
import { NOW_ONCE } from './sql-store.ts'

const SWEEP_BATCH = 1_000
const PREPARED = { prepared: true }

const SCHEMA: DocumentSchema<string> = {
  columns: 'd.partition, d.id, d.names, d.version, d.value, d.fields',
  nameOf: keyOf,
  now: () => ({ text: NOW_ONCE, values: [] }),
  belongs: (alias) => `${alias}.document = d.key`,
  keys: ['num', 'str'],
  keysOf: sortedBy,
  ordersByMatch: false,
}

const GET = `SELECT partition, id, names, version, value, fields FROM {documents}
  WHERE partition = $1 AND collection = $2 AND id = $3 AND (expires_at IS NULL OR expires_at > ${NOW_ONCE})`
const GET_MANY = `SELECT place::text, d.partition, d.id, d.names, d.version, d.value, d.fields
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS w (partition, id, place)
  JOIN {documents} AS d ON d.partition = w.partition AND d.collection = $1 AND d.id = w.id
    AND (d.expires_at IS NULL OR d.expires_at > ${NOW_ONCE})`
const COUNT = `SELECT coalesce((SELECT n FROM {counts} WHERE collection = $1 AND field = $2), 0)
  + coalesce((SELECT sum(n) FROM {count_changes} WHERE collection = $1 AND field = $2), 0) AS n`
const INSPECT = `SELECT head, first_retained, token, lease_owner, lease_token, lease_until, ${NOW_ONCE} AS now
  FROM (SELECT $1::text AS wanted) AS w LEFT JOIN {partitions} ON partition = wanted`
/**
 * The partition, and a row for each document found. A single statement sees a single state of the database.
 */
const INSPECT_WITH = `SELECT p.*, d.id, d.collection, d.names, d.version, d.value, d.fields
  FROM (${INSPECT}) AS p LEFT JOIN {documents} AS d ON d.partition = $1
    AND (d.collection, d.id) IN (SELECT * FROM unnest($2::text[], $3::text[]))
    AND (d.expires_at IS NULL OR d.expires_at > p.now)`
const EXPIRED = `SELECT partition, names, lease_owner, lease_token, lease_until FROM {partitions}
  WHERE lease_until <= ${NOW_ONCE} ORDER BY lease_until LIMIT $1`

export function createStore(database: Database, notifier: Notifier, retention: RetentionOptions): StoreCalls {
  const { run, call } = database
  const read = shareReads((partition, query, onSend) => readLog(database, partition, query, onSend))

  return {
    async get(partition, collection, id) {
      const [row] = await run(GET, [keyOf(partition), keyOf(collection), keyOf(id)], PREPARED)
      return row && toDoc(row)
    },
    async getMany(collection, places) {
      const keys = places.map(({ partition, id }) => [keyOf(partition), keyOf(id)] as const)
      const wanted = [keys.map(([partition]) => partition), keys.map(([, id]) => id)]
      const rows = await run(GET_MANY, [keyOf(collection), ...wanted], PREPARED)
      const found = new Map(rows.map((row) => [row.place, row]))
      return keys.map((_, place) => {
        const row = found.get(String(place + 1))
        return row && toDoc(row)
      })
    },
    async list(collection, query = {}) {
      const rows = await run(...numbered(listStatement(SCHEMA, collection, query)))
      return toPage(rows.map(toDoc), query)
    },
    async count(collection, field) {
      const [row] = await run(COUNT, [keyOf(collection), keyOf(field)], PREPARED)
      return Number(row!.n)
    },
    async commit(partition, change) {
      database.assertOpen()
      return commit(database, notifier, partition, change)
    },
    async read(partition, query) {
      database.assertOpen()
      return read(partition, query)
    },
    inspect: (partition, keys = []) => inspect(database, partition, keys),
    async expired({ limit = 100 } = {}) {
      const rows = await run(EXPIRED, [limit], PREPARED)
      return rows.map((row) => toLease(readNames(row.names!, row.partition!)[0], row))
    },
    async trim(partition, bound) {
      const [keep, older] =
        'keepLast' in bound ? [bound.keepLast, null] : [null, Math.ceil(bound.olderThanMs)]
      await call('trim', [keyOf(partition), keep, older], { mutates: true })
    },
    async sweep() {
      for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH; ) {
        const [row] = await call('sweep', [SWEEP_BATCH], { mutates: true })
        swept = Number(row!.value)
      }
      await call('fold_counts', [], { mutates: true })
      await expireLogs(database, retention)
    },
  }
}

async function readLog({ call }: Database, partition: string, query: ReadQuery, onSend: () => void) {
  const { limit, maxBytes } = readBounds(query)
  const [row] = await call('read_log', [keyOf(partition), query.after, limit, maxBytes], { onSend })
  const { head, first_retained: firstRetained, first, layouts, data, encoded } = row!
  const found = {
    head: Number(head ?? 0),
    firstRetained: Number(firstRetained ?? 1),
    first: Number(first),
    layouts: JSON.parse(`[${layouts ?? ''}]`) as Layout[],
    bytes(start: number, end: number) {
      const bytes = Buffer.from(data!, encoded === 't' ? 'base64' : 'latin1')
      return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
    },
  }
  return toBatch(found, query)
}

async function commit(
  { call, write }: Database,
  notifier: Notifier,
  partition: string,
  change: Change,
): Promise<Committed> {
  const { guards = [], signal } = change
  const prepared = prepareOps(change)
  const place = keyOf(partition)
  const append = signal ? undefined : encodeAppend(partition, guards, prepared)
  if (append) {
    const row = await write(place, 'append', append)
    if (row.head !== null) {
      notifier.notify(partition, changeBy(prepared))
      return { head: Number(row.head), versions: [] }
    }
  }
  // The commit is more than one append, or a guard failed and `commit` determines which.
  const encoded = encodeChange(partition, guards, prepared)
  // An abortable commit is a statement of its own.
  const row = signal
    ? (await call('commit', encoded, { mutates: true, signal }))[0]!
    : await write(place, 'commit', encoded)
  const { refused, head, versions } = row
  if (refused !== null) throwRefusal(partition, guards, prepared, row)
  if (prepared.length > 0) notifier.notify(partition, changeBy(prepared))
  return { head: Number(head), versions: readNumbers(versions!) }
}

async function inspect({ run }: Database, partition: string, keys: readonly DocKey[]): Promise<Inspection> {
  const key = keyOf(partition)
  const places = keys.map(({ collection, id }) => [keyOf(collection), keyOf(id)] as const)
  const wanted = [places.map(([collection]) => collection), places.map(([, id]) => id)]
  const rows = await (keys.length === 0
    ? run(INSPECT, [key], PREPARED)
    : run(INSPECT_WITH, [key, ...wanted], PREPARED))
  const { head, first_retained: firstRetained, token, now } = rows[0]!
  const docs = places.map(([collection, id]) => {
    const row = rows.find((found) => found.collection === collection && found.id === id)
    return row && toDoc({ ...row, partition: key })
  })
  return {
    head: Number(head ?? 0),
    firstRetained: Number(firstRetained ?? 1),
    token: Number(token ?? 0),
    lease: rows[0]!.lease_token === null ? undefined : toLease(partition, rows[0]!),
    now: Number(now),
    docs,
  }
}

/** Logs per transaction. */
const LIMIT = 200

/**
 * The policy of `applyRetention`, in the server-side functions `expire` and `evict`, because a sweep would
 * otherwise fetch a row for each thread. Their lock admits one process at a time, so nothing is counted
 * twice.
 */
async function expireLogs(
  { call }: Database,
  { maxThreadBytes, maxTotalBytes, maxAgeMs }: RetentionOptions,
): Promise<void> {
  const whole = (value: number | undefined) => (value === undefined ? null : Math.floor(value))
  async function resultOf(name: string, ...values: unknown[]): Promise<string | null> {
    return (await call(name, values, { mutates: true }))[0]!.value!
  }
  if (maxThreadBytes !== undefined || maxAgeMs !== undefined) {
    for (let after: string | null = ''; after !== null; )
      after = await resultOf('expire', after, whole(maxAgeMs), whole(maxThreadBytes), LIMIT)
  }
  if (maxTotalBytes === undefined) return
  while ((await resultOf('evict', whole(maxTotalBytes), LIMIT)) === 't');
}

/** From a row with the columns of `SCHEMA`. */
function toDoc(row: Row): Doc {
  const [partition, id] = readNames(row.names!, row.partition!, row.id!)
  return {
    partition,
    id,
    value: JSON.parse(row.value!),
    version: Number(row.version),
    index: JSON.parse(row.fields!),
  }
}

/** From a row with `lease_owner, lease_token, lease_until`. */
function toLease(partition: string, row: Row): LeaseRecord {
  return leaseOf(partition, fromText(row.lease_owner!), Number(row.lease_token), Number(row.lease_until))
}
