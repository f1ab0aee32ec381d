import { addressOf } from '../checkpoint-config.ts'
import type {
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from '../checkpointer.ts'
import { matches } from '../memory-checkpoints.ts'
import type { Serde } from '../serde.ts'
import type { Database, Row } from './database.ts'
import { keyOf } from './text.ts'
import { type Address, loadTuples, revive } from './tuples.ts'

/** Checkpoints whose values are in memory at once. */
const LOADED = 20
/** Checkpoints whose metadata are looked at, at once. */
const LOOKED_AT = 200

/** Newest first, page by page, so that a long history is never in memory as a whole. */
export async function* listTuples(
  database: Database,
  serde: Serde,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  const isFiltered = Object.keys(filter).length > 0
  let left = limit
  let last: Row | undefined
  while (left > 0) {
    const size = isFiltered ? LOOKED_AT : Math.min(left, LOOKED_AT)
    const rows = await database.run(pageStatement(database.names.of, config, before, last, size, isFiltered))
    const fitting: Address[] = []
    for (const row of rows) {
      const metadata = isFiltered ? await revive(serde, row.metadata_type!, row.metadata!) : undefined
      if (isFiltered && !matches(metadata as CheckpointMetadata, filter)) continue
      fitting.push([row.thread_id!, row.namespace!, row.checkpoint_id!])
    }
    const wanted = fitting.slice(0, left)
    for (let at = 0; at < wanted.length; at += LOADED) {
      yield* await loadTuples(database, serde, wanted.slice(at, at + LOADED))
    }
    left -= wanted.length
    if (rows.length < size) return
    last = rows.at(-1)
  }
}

function pageStatement(
  of: (name: string) => string,
  config: CheckpointConfig,
  before: CheckpointConfig | undefined,
  last: Row | undefined,
  size: number,
  withMetadata: boolean,
): { text: string; values: unknown[] } {
  const { threadId, namespace, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const conditions = ['true']
  if (threadId) conditions.push(`thread_id = ${value(keyOf(threadId))}`)
  if (namespace !== undefined) conditions.push(`namespace = ${value(keyOf(namespace))}`)
  if (checkpointId !== undefined) conditions.push(`checkpoint_id = ${value(keyOf(checkpointId))}`)
  if (end !== undefined) conditions.push(`checkpoint_id < ${value(keyOf(end))}`)
  const order = ['checkpoint_id', 'thread_id', 'namespace'] as const
  if (last) conditions.push(`(${order}) < (${order.map((column) => value(last[column]))})`)
  return {
    text: `SELECT ${order}${withMetadata ? `, metadata_type, encode(metadata, 'hex') AS metadata` : ''}
      FROM ${of('checkpoints')} WHERE ${conditions.join(' AND ')}
      ORDER BY ${order.map((column) => `${column} DESC`)} LIMIT ${value(size)}`,
    values,
  }
}
