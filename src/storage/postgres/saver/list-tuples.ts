import type { CheckpointMetadata } from '../../checkpointer/checkpointer.ts'
import { type CheckpointRows, ORDER } from '../../checkpointer/list-tuples.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import type { Database, Row } from '../database.ts'
import { keyOf } from '../text.ts'
import { loadTuples, revive } from './tuples.ts'

export function rowsOf(database: Database, serde: Serde): CheckpointRows<Row> {
  return {
    page(conditions, last, size, withMetadata) {
      const values: unknown[] = []
      const value = (given: unknown) => `$${values.push(given)}`
      const where = ['true', ...conditions.map(([test, wanted]) => `${test} ${value(keyOf(wanted))}`)]
      if (last) where.push(`(${ORDER}) < (${ORDER.map((column) => value(last[column]))})`)
      return database.run({
        text: `SELECT ${ORDER}${withMetadata ? `, metadata_type, encode(metadata, 'hex') AS metadata` : ''}
          FROM ${database.names.of('checkpoints')} WHERE ${where.join(' AND ')}
          ORDER BY ${ORDER.map((column) => `${column} DESC`)} LIMIT ${value(size)}`,
        values,
      })
    },
    async metadataOf({ metadata_type: type, metadata }) {
      return (await revive(serde, type!, metadata!)) as CheckpointMetadata
    },
    load(rows) {
      const addresses = rows.map(
        (row) => [row.thread_id!, row.namespace!, row.checkpoint_id!] satisfies [string, string, string],
      )
      return loadTuples(database, serde, addresses)
    },
  }
}
