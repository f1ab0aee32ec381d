import type { ChannelVersion, Checkpoint, CheckpointTuple } from '../checkpointer/checkpointer.ts'
import { copy, equalsCopy } from '../checkpointer/copy.ts'
import type { PendingWrite } from '../checkpointer/delta-history.ts'
import type { NewCheckpoint } from '../checkpointer/saver.ts'
import { inOrder, toTuple } from '../checkpointer/stored.ts'

/** One checkpoint. Its channel values are cells, which it shares with the checkpoints before it. */
export interface Kept extends Omit<NewCheckpoint, 'checkpoint' | 'newVersions'> {
  readonly checkpointId: string
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

/** What is kept of one namespace of a thread. */
export interface Namespace {
  readonly kept: Map<string, Kept>
  /** By checkpoint, then by place and task. */
  readonly writes: Map<string, Map<string, KeptWrite>>
  newest: string | undefined
}

/** Copies what is new, and takes the cell of an older checkpoint for every channel that kept its version. */
export function keep(home: Namespace, given: NewCheckpoint): Kept {
  const { threadId, namespace, parentId, checkpoint, metadata, newVersions } = given
  const { channel_values: values, ...rest } = checkpoint
  const parent = home.kept.get(parentId ?? '')
  const cells = new Map<string, Cell>()
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const isGiven = Object.hasOwn(values, channel)
    if (Object.hasOwn(newVersions, channel)) {
      if (isGiven) cells.set(channel, { value: copy(values[channel], parent?.cells.get(channel)?.value) })
      continue
    }
    const source =
      parent && hasVersion(parent, channel, version)
        ? parent
        : findVersion(home, channel, version, isGiven ? { value: values[channel] } : undefined)
    const cell = source?.cells.get(channel)
    if (cell) cells.set(channel, cell)
  }
  return {
    threadId,
    namespace,
    checkpointId: checkpoint.id,
    parentId,
    checkpoint: copy(rest, parent?.checkpoint),
    cells,
    metadata: copy(metadata, parent?.metadata),
    home,
  }
}

function hasVersion({ checkpoint }: Kept, channel: string, version: ChannelVersion): boolean {
  return (
    Object.hasOwn(checkpoint.channel_versions, channel) && checkpoint.channel_versions[channel] === version
  )
}

/** Two branches of a thread may number different values alike. The one that equals what was given is meant, else the latest. */
function findVersion(
  { kept }: Namespace,
  channel: string,
  version: ChannelVersion,
  given: Cell | undefined,
): Kept | undefined {
  const candidates = [...kept.values()].filter((each) => hasVersion(each, channel, version))
  const equal = candidates.findLast(({ cells }) => {
    const cell = cells.get(channel)
    return given && cell && equalsCopy(given.value, cell.value)
  })
  return equal ?? candidates.at(-1)
}

export function tupleOf(kept: Kept): Promise<CheckpointTuple> {
  const values = [...kept.cells].map(([channel, { value }]) => [channel, copy(value)] as const)
  return toTuple(
    {
      threadId: kept.threadId,
      namespace: kept.namespace,
      parentId: kept.parentId,
      checkpoint: { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) },
      metadata: copy(kept.metadata),
      pendingWrites: writesOf(kept.home, kept.checkpointId),
    },
    (parentId) => writesOf(kept.home, parentId),
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
