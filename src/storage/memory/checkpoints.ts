import type { ChannelVersion, Checkpoint, CheckpointTuple } from '../checkpointer/checkpointer.ts'
import { copy, equalsCopy } from '../checkpointer/copy.ts'
import type { PendingWrite } from '../checkpointer/delta-history.ts'
import { type Sorted, sortKeyBehind } from '../checkpointer/list-tuples.ts'
import type { NewCheckpoint } from '../checkpointer/saver.ts'
import { asImmutable, isImmutable } from '../checkpointer/shared.ts'
import { inOrder, toTuple } from '../checkpointer/stored.ts'

/** One checkpoint. Its channel values are cells, which it shares with earlier checkpoints. */
export interface Kept extends Omit<NewCheckpoint, 'checkpoint' | 'newVersions'>, Sorted {
  readonly checkpoint: Omit<Checkpoint, 'channel_values'>
  readonly cells: ReadonlyMap<string, Cell>
  readonly home: Namespace
}

interface Cell {
  readonly value: unknown
}

interface KeptWrite {
  readonly taskId: string
  readonly place: number
  readonly channel: string
  readonly value: unknown
}

/** The contents of one namespace of a thread. */
export interface Namespace {
  readonly kept: Map<string, Kept>
  readonly writes: Map<string, Map<string, KeptWrite>>
  newest: Kept | undefined
}

/** Copies new values, and reuses an older checkpoint's cell for every channel with an unchanged version. */
export function keep(
  home: Namespace,
  { threadId, namespace, parentId, checkpoint, metadata, newVersions }: NewCheckpoint,
): Kept {
  const { channel_values: values, ...rest } = checkpoint
  const parent = home.kept.get(parentId ?? '')
  const cells = new Map<string, Cell>()
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const given = Object.hasOwn(values, channel) ? { value: values[channel] } : undefined
    const before = parent?.cells.get(channel)
    let cell: Cell | undefined
    if (Object.hasOwn(newVersions, channel)) cell = given && { value: keptValue(given.value, before?.value) }
    else if (parent?.checkpoint.channel_versions[channel] === version) cell = before
    else cell = findVersion(home, channel, version, given)
    if (cell) cells.set(channel, cell)
  }
  return {
    threadId,
    namespace,
    checkpointId: checkpoint.id,
    sortKey: (home.kept.get(checkpoint.id) ?? { sortKey: sortKeyBehind(home.newest, checkpoint.id) }).sortKey,
    parentId,
    checkpoint: copy(rest, parent?.checkpoint),
    cells,
    metadata: copy(metadata, parent?.metadata),
    home,
  }
}

/** A copy, or the value itself if it is immutable. Parts that equal the previous value are shared with it. */
function keptValue(value: unknown, before: unknown): unknown {
  if (!isImmutable(value)) return copy(value, before)
  // A list that was read as a copy must not be stored twice. One that was read without a copy starts with the
  // same item.
  if (!Array.isArray(value) || !isImmutable(before) || !Array.isArray(before) || value[0] === before[0])
    return value
  const items = value.map((item, place) => (equalsCopy(item, before[place]) ? before[place] : item))
  return asImmutable(Object.freeze(items))
}

/**
 * Branches of a thread may give different values the same version. Picks the equal value, otherwise the
 * latest.
 */
function findVersion(
  { kept }: Namespace,
  channel: string,
  version: ChannelVersion,
  given: Cell | undefined,
): Cell | undefined {
  const cells = [...kept.values()]
    .filter(({ checkpoint }) => checkpoint.channel_versions[channel] === version)
    .map(({ cells }) => cells.get(channel))
  return cells.findLast((cell) => given && cell && equalsCopy(given.value, cell.value)) ?? cells.at(-1)
}

/** `isShared`: immutable values are not copied. */
export function tupleOf(kept: Kept, isShared: boolean): Promise<CheckpointTuple> {
  const values = [...kept.cells].map(([channel, { value }]) => {
    return [channel, isShared && isImmutable(value) ? value : copy(value)] as const
  })
  return toTuple(
    kept,
    {
      checkpoint: { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) },
      metadata: copy(kept.metadata),
      pendingWrites: writesOf(kept.home, kept.checkpointId),
    },
    (parentId) => writesOf(kept.home, parentId),
  )
}

export function writesOf(
  { writes }: Namespace,
  checkpointId: string,
  isWanted: (channel: string) => boolean = () => true,
): PendingWrite[] {
  const wanted = [...(writes.get(checkpointId)?.values() ?? [])].filter(({ channel }) => isWanted(channel))
  return inOrder(wanted).map(({ taskId, channel, value }) => [taskId, channel, copy(value)])
}
