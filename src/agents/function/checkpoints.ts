import type {
  ChannelVersion,
  CheckpointConfig,
  Checkpointer,
  CheckpointMetadata,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import { uuid6 } from './ids.ts'
import { own } from './state.ts'

/** Where the checkpoints of a namespace are kept. */
export interface Place {
  readonly checkpointer: Checkpointer
  readonly threadId: string
  /** Segments joined by `|`; `''` is the root. */
  readonly namespace: string
}

/** A checkpoint with its values as frozen JSON. */
export interface Loaded {
  readonly id: string
  readonly channels: Channels
  readonly tuple: CheckpointTuple
}

export type Channels = Readonly<Record<string, unknown>>

/** `data` of the protocol's `checkpoints` event. */
export interface CheckpointData {
  readonly id: string
  readonly parent_id?: string
  readonly step: number
  readonly source: CheckpointMetadata['source']
}

/** Writes one checkpoint behind the other. */
export interface CheckpointChain {
  /** The newest checkpoint of this line; undefined before the first. */
  head(): CheckpointData | undefined
  put(channels: Channels, details: CheckpointDetails): Promise<CheckpointData>
  /** Attaches writes to the head. */
  putWrites(taskId: string, writes: [channel: string, value: unknown][]): Promise<void>
}

export interface CheckpointDetails {
  readonly source: CheckpointMetadata['source']
  /** The checkpoints of the namespaces around, by namespace. */
  readonly parents?: Readonly<Record<string, string>>
  readonly runId?: string
}

/** The checkpoint with this id, or the newest one. */
export async function load(place: Place, checkpointId?: string): Promise<Loaded | undefined> {
  const tuple = await place.checkpointer.getTuple(configOf(place, checkpointId))
  if (!tuple) return undefined
  return { id: tuple.checkpoint.id, channels: own(tuple.checkpoint.channel_values) as Channels, tuple }
}

export function createCheckpointChain(place: Place, base: Loaded | undefined): CheckpointChain {
  let head = base && dataOf(base.tuple)
  let channels: Channels = base?.channels ?? {}
  let versions: Readonly<Record<string, ChannelVersion>> = base?.tuple.checkpoint.channel_versions ?? {}

  async function put(
    next: Channels,
    { source, parents = {}, runId }: CheckpointDetails,
  ): Promise<CheckpointData> {
    const id = uuid6(head?.id)
    const changed = Object.keys(next).filter(
      (key) => !Object.is(next[key], channels[key]) || !(key in versions),
    )
    const newVersions = Object.fromEntries(changed.map((key) => [key, nextVersion(versions[key])]))
    const kept = Object.entries(versions).filter(([key]) => Object.hasOwn(next, key))
    const allVersions = { ...Object.fromEntries(kept), ...newVersions }
    const step = (head?.step ?? -1) + 1
    const metadata = {
      source,
      step,
      parents: { ...parents },
      thread_id: place.threadId,
      ...(runId && { run_id: runId }),
    }
    const checkpoint = {
      v: 4,
      id,
      ts: new Date().toISOString(),
      channel_values: { ...next },
      channel_versions: allVersions,
      versions_seen: {},
    }
    await place.checkpointer.put(configOf(place, head?.id), checkpoint, metadata, newVersions)
    head = { id, ...(head && { parent_id: head.id }), step, source }
    channels = next
    versions = allVersions
    return head
  }

  return {
    head: () => head,
    put,
    async putWrites(taskId, writes) {
      await place.checkpointer.putWrites(configOf(place, head?.id), writes, taskId)
    },
  }
}

export function configOf({ threadId, namespace }: Place, checkpointId?: string): CheckpointConfig {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: namespace,
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    },
  }
}

export function dataOf({ checkpoint, metadata, parentConfig }: CheckpointTuple): CheckpointData {
  const parentId: unknown = parentConfig?.configurable?.checkpoint_id
  return {
    id: checkpoint.id,
    ...(typeof parentId === 'string' && { parent_id: parentId }),
    step: metadata?.step ?? 0,
    source: metadata?.source ?? 'loop',
  }
}

/**
 * Rises, and is the time: savers keep one value per channel and version, so two branches of a thread must not give the same
 * version to different values.
 */
function nextVersion(before: ChannelVersion | undefined): ChannelVersion {
  const floor = typeof before === 'number' ? before : Number.parseInt(before ?? '0', 10)
  return Math.max(floor + 1, Date.now() * 1_000 + Math.floor(Math.random() * 1_000))
}
