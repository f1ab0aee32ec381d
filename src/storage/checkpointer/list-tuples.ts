import { compareKeys } from '../store/cursor.ts'
import type {
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { addressOf, type CheckpointAddress } from './config.ts'
import { equalsCopy } from './copy.ts'

/** Which checkpoints to list. An undefined field is no restriction. */
export interface CheckpointScope extends CheckpointAddress {
  readonly before: string | undefined
}

export interface CheckpointListing<Row> {
  /** Pages of about `size` checkpoints, ordered by `newestFirst`. */
  pages(scope: CheckpointScope, size: number, withMetadata: boolean): AsyncIterable<readonly Row[]>
  metadataOf(row: Row): CheckpointMetadata | Promise<CheckpointMetadata>
  /** Leaves out checkpoints that were deleted in the meantime. */
  load(rows: readonly Row[]): Promise<readonly CheckpointTuple[]>
}

/** Checkpoints per page when their values are loaded. */
const LOADED = 20
/** Checkpoints per page when only their metadata are loaded. */
const LOOKED_AT = 200

/** Newest first, page by page, so that a long history is never completely in memory. */
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

interface Listed extends Sorted {
  readonly threadId: string
  readonly namespace: string
}

/** The order of lists: by sort key, thread and namespace, all descending. */
export function newestFirst(a: Listed, b: Listed): number {
  return (
    compareKeys(keyOf(b), keyOf(a)) ||
    compareKeys(b.threadId, a.threadId) ||
    compareKeys(b.namespace, a.namespace)
  )
}

/**
 * The checkpoints of the scope, newest first. If the `before` checkpoint does not exist, it is compared by
 * its id, as in lists over all threads: copies of a thread have the same ids.
 */
export function placesInScope<Place extends Listed>(
  { threadId, namespace, checkpointId, before }: CheckpointScope,
  places: readonly Place[],
): Place[] {
  const sorted = places
    .filter((place) => namespace === undefined || place.namespace === namespace)
    .sort(newestFirst)
  const last = threadId && before && sorted.find((place) => place.checkpointId === before)
  const end = last ? keyOf(last) : before
  return sorted.filter(
    (place) =>
      (checkpointId === undefined || place.checkpointId === checkpointId) &&
      (end === undefined || keyOf(place) < end),
  )
}

export interface Sorted {
  readonly checkpointId: string
  /** Undefined if its id is its sort key. */
  readonly sortKey: string | undefined
}

/** Digits of the counter for checkpoints that follow one with a greater id. */
const DIGITS = 8

export const keyOf = ({ checkpointId, sortKey }: Sorted): string => sortKey ?? checkpointId

/**
 * The sort key of a checkpoint that follows the newest one. A namespace is ordered by its writes. Ids have
 * the same order only if all clocks agree and none is set back; then the id is the key. Otherwise the key is
 * the namespace's greatest id with a counter, and the checkpoint's own id to make it unique.
 *
 * Postgres and Redis compute the same key in the transaction that writes.
 */
export function sortKeyBehind(newest: Sorted | undefined, checkpointId: string): string | undefined {
  if (!newest || checkpointId > keyOf(newest)) return undefined
  const [greatest, count] = splitKey(newest)
  return `${greatest}~${String(count + 1).padStart(DIGITS, '0')}~${checkpointId}`
}

function splitKey({ checkpointId, sortKey }: Sorted): [greatest: string, count: number] {
  if (sortKey === undefined) return [checkpointId, 0]
  const counted = sortKey.slice(0, -checkpointId.length - 1)
  return [counted.slice(0, -DIGITS - 1), Number(counted.slice(-DIGITS))]
}
