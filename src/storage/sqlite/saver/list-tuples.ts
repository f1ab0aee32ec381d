import type { CheckpointTuple } from '../../checkpointer/checkpointer.ts'
import { type CheckpointRows, ORDER } from '../../checkpointer/list-tuples.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'
import { loadCheckpoint, reviveMetadata, toTuple } from './tuples.ts'

export function rowsOf(database: Database, serde: Serde): CheckpointRows<Row> {
  const { of } = database
  return {
    page(conditions, last, size, withMetadata) {
      const where = ['true', ...conditions.map(([test]) => `${test} ?`)]
      const values = conditions.map(([, value]) => toText(value))
      if (last) {
        where.push(`(${ORDER}) < (?, ?, ?)`)
        values.push(...ORDER.map((column) => last[column] as string))
      }
      return database.read(({ all }) =>
        all(
          `SELECT ${ORDER}${withMetadata ? ', metadata_type, metadata' : ''} FROM ${of('checkpoints')}
            WHERE ${where.join(' AND ')} ORDER BY ${ORDER.map((column) => `${column} DESC`)} LIMIT ?`,
          ...values,
          size,
        ),
      )
    },
    metadataOf: (row) => reviveMetadata(serde, row),
    async load(rows) {
      const tuples: CheckpointTuple[] = []
      for (const { thread_id, namespace, checkpoint_id } of rows) {
        const address = [thread_id, namespace, checkpoint_id] as [string, string, string]
        const found = await database.snapshot((connection) => loadCheckpoint(connection, of, ...address))
        if (found) tuples.push(await toTuple(serde, found))
      }
      return tuples
    },
  }
}
