import type { Checkpointer, CheckpointTuple } from './checkpointer.ts'
import type { CheckpointPlace, SavedAt } from './config.ts'
import type { Ancestor } from './delta-history.ts'

/** The method of savers that can find a namespace's newest checkpoint without loading its values. */
export const NEWEST: unique symbol = /* @__PURE__ */ Symbol('newest')

export interface FindsNewest {
  [NEWEST](threadId: string, namespace: string): Promise<string | undefined>
}

/** The id of the newest checkpoint of a namespace, or null before the first. */
export async function newestCheckpointId(
  checkpointer: Checkpointer & Partial<FindsNewest>,
  threadId: string,
  namespace = '',
): Promise<string | null> {
  const find = checkpointer[NEWEST]
  if (find) return (await find(threadId, namespace)) ?? null
  const configurable = { thread_id: threadId, checkpoint_ns: namespace }
  return (await checkpointer.getTuple({ configurable }))?.checkpoint.id ?? null
}

export interface ReadTuples {
  /** `isShared`: the caller does not change the tuple, so it need not be a copy. */
  load(at: SavedAt, isShared: boolean): Promise<CheckpointTuple | undefined>
  newest(threadId: string, namespace: string): Promise<string | undefined>
  /** All checkpoints of a thread, newest first. */
  places(threadId: string): AsyncIterable<CheckpointPlace>
  /** Nearest first, without the checkpoint itself. */
  ancestors(at: SavedAt, channels: readonly string[]): AsyncIterable<Ancestor>
}

/** What a namespace keeps when its thread is shortened. */
export interface Remainder {
  readonly namespace: string
  /** Its newest checkpoint at the time of reading. If there is a newer one by now, nothing is deleted. */
  readonly newest: string
  /** The checkpoints to keep, including the newest. */
  readonly checkpointIds: readonly string[]
}

/** See `Checkpointer.keepLatest`. Namespaces that keep all checkpoints are left out. */
export async function remaindersOf(
  tuples: ReadTuples,
  threadId: string,
  asOf: string | undefined,
): Promise<readonly Remainder[]> {
  const counts = new Map<string, number>()
  const latest = new Map<string, string[]>()
  /** The namespaces whose newest checkpoint as of `asOf` was found. */
  const settled = new Set<string>()
  let isReached = false
  for await (const { namespace, checkpointId } of tuples.places(threadId)) {
    isReached ||= checkpointId === asOf
    const count = counts.get(namespace) ?? 0
    counts.set(namespace, count + 1)
    if (count > 0 && (!isReached || settled.has(namespace))) continue
    if (isReached) settled.add(namespace)
    latest.set(namespace, [...(latest.get(namespace) ?? []), checkpointId])
  }
  const remainders: Remainder[] = []
  for (const [namespace, ids] of latest) {
    if (ids.length === counts.get(namespace)) continue
    const staying = new Set(ids)
    for (const checkpointId of ids)
      for await (const id of ancestorsReadBy(tuples, { threadId, namespace, checkpointId })) staying.add(id)
    if (staying.size < counts.get(namespace)!)
      remainders.push({ namespace, newest: ids[0]!, checkpointIds: [...staying] })
  }
  return remainders
}

/** The ancestors that a checkpoint needs to be read. */
async function* ancestorsReadBy(tuples: ReadTuples, at: SavedAt): AsyncGenerator<string> {
  const tuple = await tuples.load(at, true)
  if (!tuple) return
  const channels = replayedChannels(tuple)
  // Before format 4, a step's sends are stored with its parent's writes.
  if (channels.length === 0 && tuple.checkpoint.v >= 4) return
  const open = new Set(channels)
  for await (const { checkpointId, value } of tuples.ancestors(at, channels)) {
    yield checkpointId
    for (const channel of open) if ((await value(channel)) !== undefined) open.delete(channel)
    if (open.size === 0) return
  }
}

/**
 * The delta channels whose values LangGraph derives from the ancestors' writes. In a branch that versions all
 * writes, a channel without a version was never written.
 */
function replayedChannels({ checkpoint, metadata }: CheckpointTuple): string[] {
  const { counters_since_delta_snapshot: counters = {}, delta_writes_versioned: areVersioned } = (metadata ??
    {}) as Partial<NonNullable<typeof metadata>> & { readonly delta_writes_versioned?: unknown }
  return Object.keys(counters).filter(
    (channel) =>
      !Object.hasOwn(checkpoint.channel_values, channel) &&
      (areVersioned !== true || Object.hasOwn(checkpoint.channel_versions, channel)),
  )
}
