import type {
  ChannelVersion,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from '../checkpointer/checkpointer.ts'
import { addPendingSends, configOf, TASKS } from '../checkpointer/config.ts'
import { copy, equalsCopy } from './copy.ts'

export type PendingWrite = [taskId: string, channel: string, value: unknown]

/** What one channel received along the ancestors of a checkpoint, oldest first, on top of `seed` where one was stored. */
export interface DeltaHistory {
  writes: PendingWrite[]
  seed?: unknown
}

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

export interface Namespace {
  readonly kept: Map<string, Kept>
  /** By checkpoint, task, then place. */
  readonly writes: Map<string, Map<string, Map<number, PendingWrite>>>
  newest: string | undefined
}

/** Copies what is new; takes the cell of an older checkpoint for every channel that kept its version. */
export function keep(
  namespace: Namespace | undefined,
  parentId: string | undefined,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: Record<string, ChannelVersion>,
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

export function toTuple(threadId: string, name: string, namespace: Namespace, kept: Kept): CheckpointTuple {
  const { parentId } = kept
  const values = [...kept.cells].map(([channel, { value }]) => [channel, copy(value)] as const)
  const checkpoint: Checkpoint = { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) }
  if (checkpoint.v < 4 && parentId !== undefined) {
    const sends = writesOf(namespace, parentId).filter(([, channel]) => channel === TASKS)
    addPendingSends(
      checkpoint,
      sends.map(([, , value]) => copy(value)),
    )
  }
  return {
    config: configOf(threadId, name, checkpoint.id),
    checkpoint,
    metadata: copy(kept.metadata),
    pendingWrites: writesOf(namespace, checkpoint.id).map((write) => copy(write)),
    ...(parentId !== undefined && { parentConfig: configOf(threadId, name, parentId) }),
  }
}

/** By task, then place. Not copied. */
function writesOf(namespace: Namespace, checkpointId: string): PendingWrite[] {
  const byTask = [...(namespace.writes.get(checkpointId) ?? [])].sort(byKey)
  return byTask.flatMap(([, byPlace]) => [...byPlace].sort(([a], [b]) => a - b).map(([, write]) => write))
}

export function matches(metadata: CheckpointMetadata, filter: Record<string, unknown>): boolean {
  const fields = metadata as unknown as Record<string, unknown>
  return Object.entries(filter).every(
    ([key, value]) => Object.hasOwn(fields, key) && equalsCopy(value, fields[key]),
  )
}

/**
 * Walks the ancestors of a checkpoint once for all channels. A channel's walk ends at the nearest ancestor that stored a value,
 * its seed; the writes on that ancestor still count, for they made its child.
 */
export function deltaHistory(
  namespace: Namespace,
  id: string | undefined,
  channels: string[],
): Record<string, DeltaHistory> {
  const found = new Map<string, DeltaHistory>(channels.map((channel) => [channel, { writes: [] }]))
  const open = new Set(channels)
  let at = namespace.kept.get(id ?? '')?.parentId
  while (at !== undefined && open.size > 0) {
    const kept = namespace.kept.get(at)
    if (!kept) break
    for (const write of writesOf(namespace, at).reverse()) {
      if (open.has(write[1])) found.get(write[1])!.writes.push(copy(write))
    }
    for (const channel of open) {
      const cell = kept.cells.get(channel)
      if (cell?.value === undefined) continue
      found.get(channel)!.seed = copy(cell.value)
      open.delete(channel)
    }
    at = kept.parentId
  }
  for (const history of found.values()) history.writes.reverse()
  return Object.fromEntries(found)
}

export function byKey(a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]): number {
  return a[0] === b[0] ? 0 : a[0] < b[0] ? -1 : 1
}
