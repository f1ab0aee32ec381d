import type { ListedCheckpoint } from '../checkpointer/durable-saver.ts'
import type { CheckpointScope } from '../checkpointer/list-tuples.ts'
import type { SqlStatement } from './list-documents.ts'

/** The sort key of a checkpoint in its namespace: see `sortKeyBehind`. It is indexed. */
export const SORT_KEY = 'coalesce(sort_key, checkpoint_id)'

export const newestId = (thread: string, namespace: string): string =>
  `(SELECT checkpoint_id FROM {checkpoints} WHERE thread_id = ${thread} AND namespace = ${namespace}
    ORDER BY ${SORT_KEY} DESC LIMIT 1)`

/** How a database stores `{checkpoints}`. */
export interface CheckpointSchema<Row> {
  /** The columns selected in addition to the address, and those only needed with metadata. */
  readonly columns: readonly string[]
  readonly metadataColumns: readonly string[]
  /** A name as the address columns store it. */
  nameOf(name: string): string
  all(statement: SqlStatement<string | number>): Promise<readonly Row[]>
  toListed(row: Row): ListedCheckpoint
}

const ORDER = [SORT_KEY, 'thread_id', 'namespace'] as const

export async function* checkpointPages<Row extends Readonly<Record<string, unknown>>>(
  schema: CheckpointSchema<Row>,
  { threadId, namespace, checkpointId, before }: CheckpointScope,
  size: number,
  withMetadata: boolean,
): AsyncGenerator<readonly ListedCheckpoint[]> {
  const where = ['true']
  const values: string[] = []
  const restrict = (condition: string, ...names: (string | undefined)[]) => {
    if (names.includes(undefined)) return
    where.push(condition)
    values.push(...names.map((name) => schema.nameOf(name!)))
  }
  restrict('thread_id = ?', threadId)
  restrict('namespace = ?', namespace)
  // A checkpoint that does not exist, or of any thread, is compared by its id: copies of threads have the
  // same ids.
  const found = `SELECT max(${SORT_KEY}) FROM {checkpoints} WHERE ${where.join(' AND ')} AND checkpoint_id = ?`
  const isOfThread = threadId !== undefined && before !== undefined
  if (isOfThread) values.push(...values, schema.nameOf(before))
  restrict(`${SORT_KEY} < ${isOfThread ? `coalesce((${found}), ?)` : '?'}`, before)
  restrict('checkpoint_id = ?', checkpointId)
  const columns = [
    'checkpoint_id',
    `${SORT_KEY} AS sorted_by`,
    'thread_id',
    'namespace',
    ...schema.columns,
    ...(withMetadata ? schema.metadataColumns : []),
  ]
  const sorted = ORDER.map((column) => `${column} DESC`)
  for (let last: Row | undefined; ; ) {
    const conditions = last ? [...where, `(${ORDER}) < (?, ?, ?)`] : where
    const after = last ? [last.sorted_by, last.thread_id, last.namespace] : []
    const rows = await schema.all({
      text: `SELECT ${columns} FROM {checkpoints} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
      values: [...values, ...(after as string[]), size],
    })
    yield rows.map(schema.toListed)
    if (rows.length < size) return
    last = rows.at(-1)
  }
}
