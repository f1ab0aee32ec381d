import { matches } from '../memory/checkpoints.ts'
import type {
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { addressOf } from './config.ts'

export type Condition = readonly [
  test: 'thread_id =' | 'namespace =' | 'checkpoint_id =' | 'checkpoint_id <',
  value: string,
]

export const ORDER = ['checkpoint_id', 'thread_id', 'namespace'] as const

/** The rows of checkpoints in a database. */
export interface CheckpointRows<Row> {
  /** At most `size` after `last`, descending by `ORDER`; with their metadata where it is asked for. */
  page(
    conditions: readonly Condition[],
    last: Row | undefined,
    size: number,
    withMetadata: boolean,
  ): Promise<readonly Row[]>
  metadataOf(row: Row): Promise<CheckpointMetadata>
  /** Without those that were deleted since. */
  load(rows: readonly Row[]): Promise<readonly CheckpointTuple[]>
}

/** Checkpoints whose values are in memory at once. */
const LOADED = 20
/** Checkpoints whose metadata are looked at, at once. */
const LOOKED_AT = 200

/** Newest first, page by page, so that a long history is never in memory as a whole. */
export async function* listTuples<Row>(
  { page, metadataOf, load }: CheckpointRows<Row>,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  const conditions = [...conditionsOf(config, before)]
  const isFiltered = Object.keys(filter).length > 0
  let left = limit
  let last: Row | undefined
  while (left > 0) {
    const size = isFiltered ? LOOKED_AT : Math.min(left, LOOKED_AT)
    const rows = await page(conditions, last, size, isFiltered)
    const fitting: Row[] = []
    for (const row of rows) {
      if (!isFiltered || matches(await metadataOf(row), filter)) fitting.push(row)
    }
    const wanted = fitting.slice(0, left)
    for (let at = 0; at < wanted.length; at += LOADED) yield* await load(wanted.slice(at, at + LOADED))
    left -= wanted.length
    if (rows.length < size) return
    last = rows.at(-1)
  }
}

function* conditionsOf(config: CheckpointConfig, before: CheckpointConfig | undefined): Generator<Condition> {
  const { threadId, namespace, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  if (threadId) yield ['thread_id =', threadId]
  if (namespace !== undefined) yield ['namespace =', namespace]
  if (checkpointId !== undefined) yield ['checkpoint_id =', checkpointId]
  if (end !== undefined) yield ['checkpoint_id <', end]
}
