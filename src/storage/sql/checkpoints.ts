import type { ListedCheckpoint } from '../checkpointer/durable-saver.ts'
import type { CheckpointScope } from '../checkpointer/list-tuples.ts'
import type { SqlStatement } from './statement.ts'

/** The id of the newest checkpoint of a namespace. */
export function newestId(checkpoints: string, thread: string, namespace: string): string {
  return `(SELECT max(checkpoint_id) FROM ${checkpoints} WHERE thread_id = ${thread} AND namespace = ${namespace})`
}

/** How a database keeps checkpoints. */
export interface CheckpointSchema<Row> {
  readonly checkpoints: string
  /** What is selected beside the address, and where metadata are needed. */
  readonly columns: readonly string[]
  readonly metadataColumns: readonly string[]
  /** A name as the columns of the address keep it. */
  nameOf(name: string): string
  all(statement: SqlStatement<string | number>): Promise<readonly Row[]>
  toListed(row: Row): ListedCheckpoint
}

const ORDER = ['checkpoint_id', 'thread_id', 'namespace'] as const

/** See `CheckpointListing.pages`. */
export async function* checkpointPages<Row extends Readonly<Record<string, unknown>>>(
  schema: CheckpointSchema<Row>,
  { threadId, namespace, checkpointId, before }: CheckpointScope,
  size: number,
  withMetadata: boolean,
): AsyncGenerator<readonly ListedCheckpoint[]> {
  const restrictions = [
    ['thread_id = ?', threadId],
    ['namespace = ?', namespace],
    ['checkpoint_id = ?', checkpointId],
    ['checkpoint_id < ?', before],
  ] as const
  const where = ['true']
  const values: string[] = []
  for (const [condition, name] of restrictions) {
    if (name === undefined) continue
    where.push(condition)
    values.push(schema.nameOf(name))
  }
  const columns = [...ORDER, ...schema.columns, ...(withMetadata ? schema.metadataColumns : [])]
  const sorted = ORDER.map((column) => `${column} DESC`)
  for (let last: Row | undefined; ; ) {
    const conditions = last ? [...where, `(${ORDER}) < (?, ?, ?)`] : where
    const after = last ? ORDER.map((column) => last![column] as string) : []
    const rows = await schema.all({
      text: `SELECT ${columns} FROM ${schema.checkpoints} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
      values: [...values, ...after, size],
    })
    yield rows.map(schema.toListed)
    if (rows.length < size) return
    last = rows.at(-1)
  }
}
