import { compareKeys } from '../store/cursor.ts'
import type {
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { addressOf, type CheckpointAddress } from './config.ts'
import { equalsCopy } from './copy.ts'

/** Which checkpoints are listed. What is undefined is not restricted. */
export interface CheckpointScope extends CheckpointAddress {
  /** Exclusive. */
  readonly before: string | undefined
}

/** How a saver finds its checkpoints. */
export interface CheckpointListing<Row> {
  /** Pages of about `size` checkpoints, ordered as `newestFirst`. Their metadata are needed where they are filtered. */
  pages(scope: CheckpointScope, size: number, withMetadata: boolean): AsyncIterable<readonly Row[]>
  metadataOf(row: Row): CheckpointMetadata | Promise<CheckpointMetadata>
  /** Leaves out those that were deleted since. */
  load(rows: readonly Row[]): Promise<readonly CheckpointTuple[]>
}

/** Checkpoints whose values are in memory at once. */
const LOADED = 20
/** Checkpoints whose metadata are in memory at once. */
const LOOKED_AT = 200

/** Newest first, page by page, so that a long history is never in memory as a whole. */
export async function* listTuples<Row>(
  { pages, metadataOf, load }: CheckpointListing<Row>,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  let left = limit
  if (left <= 0) return
  const isFiltered = Object.keys(filter).length > 0
  const scope = scopeOf(config, before)
  const matches = metadataCheck(filter)
  const size = isFiltered ? LOOKED_AT : Math.min(limit, LOOKED_AT)
  for await (const page of pages(scope, size, isFiltered)) {
    const fitting: Row[] = []
    for (const row of page) {
      if (!isFiltered || matches(await metadataOf(row))) fitting.push(row)
    }
    for (let at = 0; at < fitting.length && left > 0; ) {
      const batch = fitting.slice(at, at + Math.min(LOADED, left))
      at += batch.length
      const tuples = await load(batch)
      left -= tuples.length
      yield* tuples
    }
    if (left <= 0) return
  }
}

export function scopeOf(config: CheckpointConfig, before: CheckpointConfig | undefined): CheckpointScope {
  const address = addressOf(config)
  const threadId = address.threadId || undefined
  return { ...address, threadId, before: before && addressOf(before).checkpointId }
}

export function metadataCheck(filter: Record<string, unknown>): (metadata: CheckpointMetadata) => boolean {
  const wanted = Object.entries(filter)
  return (metadata) => {
    const fields = metadata as unknown as Record<string, unknown>
    return wanted.every(([key, value]) => Object.hasOwn(fields, key) && equalsCopy(value, fields[key]))
  }
}

interface Listed {
  readonly threadId: string
  readonly namespace: string
  readonly checkpointId: string
}

/** The order of lists: by checkpoint id, then by thread and namespace, all of them descending. */
export function newestFirst(a: Listed, b: Listed): number {
  return (
    compareKeys(b.checkpointId, a.checkpointId) ||
    compareKeys(b.threadId, a.threadId) ||
    compareKeys(b.namespace, a.namespace)
  )
}

/** Whether a checkpoint of a thread in the scope is in the scope too. */
export function isInScope(scope: CheckpointScope, namespace: string, checkpointId: string): boolean {
  return (
    (scope.namespace ?? namespace) === namespace &&
    (scope.checkpointId ?? checkpointId) === checkpointId &&
    (scope.before === undefined || checkpointId < scope.before)
  )
}
