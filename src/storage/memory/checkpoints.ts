import type {
  ChannelVersion,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from '../checkpointer/checkpointer.ts'
import { copy, equalsCopy } from '../checkpointer/copy.ts'
import type { PendingWrite } from '../checkpointer/delta-history.ts'
import type { NewCheckpoint } from '../checkpointer/saver.ts'
import { inOrder, toTuple } from '../checkpointer/stored.ts'

/** One checkpoint. Its channel values are cells, which it shares with the checkpoints before it. */
export interface Kept {
  readonly checkpoint: Omit<Checkpoint, 'channel_values'>
  readonly cells: ReadonlyMap<string, Cell>
  readonly metadata: CheckpointMetadata
  readonly parentId: string | undefined
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

export interface Namespace {
  readonly threadId: string
  readonly name: string
  readonly kept: Map<string, Kept>
  /** By checkpoint, then by place and task. */
  readonly writes: Map<string, Map<string, KeptWrite>>
  newest: string | undefined
}

/** Copies what is new, and takes the cell of an older checkpoint for every channel that kept its version. */
export function keep(
  namespace: Namespace | undefined,
  { parentId, checkpoint, metadata, newVersions }: NewCheckpoint,
): Kept {
  const { channel_values: values, ...rest } = checkpoint
  const parent = parentId === undefined ? undefined : namespace?.kept.get(parentId)
  const cells = new Map<string, Cell>()
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const given = Object.hasOwn(values, channel)
    if (Object.hasOwn(newVersions, channel)) {
      if (given) cells.set(channel, { value: copy(values[channel], parent?.cells.get(channel)?.value) })
      continue
    }
    const source =
      parent && hasVersion(parent, channel, version)
        ? parent
        : findVersion(namespace, channel, version, given ? { value: values[channel] } : undefined)
    const cell = source?.cells.get(channel)
    if (cell) cells.set(channel, cell)
  }
  return {
    checkpoint: copy(rest, parent?.checkpoint),
    cells,
    metadata: copy(metadata, parent?.metadata),
    parentId,
  }
}

function hasVersion({ checkpoint }: Kept, channel: string, version: ChannelVersion): boolean {
  return (
    Object.hasOwn(checkpoint.channel_versions, channel) && checkpoint.channel_versions[channel] === version
  )
}

/** Two branches of a thread may number different values alike: the one that equals what was given is meant, else the latest. */
function findVersion(
  namespace: Namespace | undefined,
  channel: string,
  version: ChannelVersion,
  given: Cell | undefined,
): Kept | undefined {
  const candidates = [...(namespace?.kept.values() ?? [])].filter((kept) =>
    hasVersion(kept, channel, version),
  )
  const equal = candidates.findLast((kept) => {
    const cell = kept.cells.get(channel)
    return given && cell && equalsCopy(given.value, cell.value)
  })
  return equal ?? candidates.at(-1)
}

export function tupleOf(namespace: Namespace, kept: Kept): Promise<CheckpointTuple> {
  const values = [...kept.cells].map(([channel, { value }]) => [channel, copy(value)] as const)
  return toTuple(
    {
      threadId: namespace.threadId,
      namespace: namespace.name,
      parentId: kept.parentId,
      checkpoint: { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) },
      metadata: copy(kept.metadata),
      pendingWrites: writesOf(namespace, kept.checkpoint.id),
    },
    (parentId) => writesOf(namespace, parentId),
  )
}

/** Copies, by task, then by place. */
export function writesOf(
  { writes }: Namespace,
  checkpointId: string,
  isWanted: (channel: string) => boolean = () => true,
): PendingWrite[] {
  const wanted = [...(writes.get(checkpointId)?.values() ?? [])].filter(({ channel }) => isWanted(channel))
  return inOrder(wanted).map(({ taskId, channel, value }) => [taskId, channel, copy(value)])
}
