import { addressOf } from '../checkpoint-config.ts'
import type { CheckpointConfig, CheckpointListOptions, CheckpointTuple } from '../checkpointer.ts'
import { matches } from '../memory-checkpoints.ts'
import type { Serde } from '../serde.ts'
import { toText } from '../text.ts'
import type { Database } from './database.ts'
import type { Row, SqliteValue } from './driver.ts'
import { loadCheckpoint, reviveMetadata, toTuple } from './tuples.ts'

/** Addresses that are read at once. */
const PAGE = 100

export async function* listTuples(
  database: Database,
  serde: Serde,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  let left = limit
  if (left <= 0) return
  for await (const row of addresses(database, config, before)) {
    if (!matches(await reviveMetadata(serde, row), filter)) continue
    const [thread, namespace, id] = [row.thread_id, row.namespace, row.checkpoint_id] as string[]
    const rows = await database.snapshot((connection) =>
      loadCheckpoint(connection, database.of, thread!, namespace!, id),
    )
    // It may have been deleted since.
    if (!rows) continue
    yield await toTuple(serde, rows)
    left -= 1
    if (left <= 0) return
  }
}

/** Newest first, with their metadata. */
async function* addresses(
  database: Database,
  config: CheckpointConfig,
  before: CheckpointConfig | undefined,
): AsyncGenerator<Row> {
  const { threadId, namespace, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  const conditions: string[] = []
  const values: SqliteValue[] = []
  const only = (condition: string, value: string | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(toText(value))
  }
  only('thread_id = ?', threadId || undefined)
  only('namespace = ?', namespace)
  only('checkpoint_id = ?', checkpointId)
  only('checkpoint_id < ?', end)
  let last: Row | undefined
  for (;;) {
    const after = last ? ['(checkpoint_id, thread_id, namespace) < (?, ?, ?)'] : []
    const where = [...conditions, ...after]
    const rows = await database.read(({ all }) =>
      all(
        `SELECT thread_id, namespace, checkpoint_id, metadata_type, metadata FROM ${database.of('checkpoints')}
          ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
          ORDER BY checkpoint_id DESC, thread_id DESC, namespace DESC LIMIT ?`,
        ...[...values, ...(last ? [last.checkpoint_id!, last.thread_id!, last.namespace!] : []), PAGE],
      ),
    )
    yield* rows
    if (rows.length < PAGE) return
    last = rows.at(-1)
  }
}
