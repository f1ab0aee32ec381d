import type { Fields } from '../../messages/record.ts'
import type { CheckpointData } from '../../messages/thread-events/index.ts'
import type {
  ChannelVersion,
  CheckpointMetadata,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import { isImmutable, readOnly } from '../../storage/checkpointer/config.ts'
import type { StateAddress } from '../agent.ts'
import { configOf, uuid6 } from '../checkpoint-config.ts'
import { set } from '../to-json.ts'
import { frozenCopy } from './state.ts'

export interface LoadedCheckpoint {
  readonly id: string
  readonly channels: Channels
  readonly tuple: CheckpointTuple
}

export type Channels = Fields

export type CheckpointChain = ReturnType<typeof createCheckpointChain>

export interface CheckpointDetails {
  readonly source: CheckpointMetadata['source']
  /** The newest checkpoints of the enclosing namespaces, by namespace. */
  readonly parents?: Readonly<Record<string, string>>
  readonly runId?: string
}

/** The checkpoint at the address, or the newest in its namespace. */
export async function loadCheckpoint(at: StateAddress): Promise<LoadedCheckpoint | undefined> {
  const tuple = await at.checkpointer.getTuple(readOnly(configOf(at)))
  return tuple && { id: tuple.checkpoint.id, channels: channelsOf(tuple), tuple }
}

function channelsOf({ checkpoint }: CheckpointTuple): Channels {
  const channels: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(checkpoint.channel_values))
    if (value !== undefined) set(channels, key, isImmutable(value) ? value : frozenCopy(value))
  return Object.freeze(channels)
}

/** Writes the checkpoints of one namespace after `base`, each with the previous one as its parent. */
export function createCheckpointChain(at: StateAddress, base: LoadedCheckpoint | undefined) {
  let head = base && dataOf(base.tuple)
  let channels: Channels = base?.channels ?? {}
  let versions: Readonly<Record<string, ChannelVersion>> = base?.tuple.checkpoint.channel_versions ?? {}

  const headConfig = () => configOf({ ...at, checkpointId: head?.id })

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
      thread_id: at.threadId,
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
    await at.checkpointer.put(headConfig(), checkpoint, metadata, newVersions)
    head = { id, ...(head && { parent_id: head.id }), step, source }
    channels = next
    versions = allVersions
    return head
  }

  return {
    /** The newest checkpoint of the chain. Undefined before the first one. */
    head: () => head,
    put,
    putWrites: (taskId: string, writes: [channel: string, value: unknown][]) =>
      at.checkpointer.putWrites(headConfig(), writes, taskId),
  }
}

function dataOf({ checkpoint, metadata, parentConfig }: CheckpointTuple): CheckpointData {
  const parentId: unknown = parentConfig?.configurable?.checkpoint_id
  return {
    id: checkpoint.id,
    ...(typeof parentId === 'string' && { parent_id: parentId }),
    step: metadata?.step ?? 0,
    source: metadata?.source ?? 'loop',
  }
}

/** The newest time-based version that this process created. */
let lastVersion = 0

/**
 * Versions increase and contain the time: checkpointers store one value per channel and version, so two
 * branches of a thread must not use the same version for different values.
 */
function nextVersion(before: ChannelVersion | undefined): ChannelVersion {
  const floor = typeof before === 'number' ? before : Number.parseInt(before ?? '0', 10)
  // One millisecond may need several versions. The random part distinguishes processes.
  lastVersion = Math.max(lastVersion + 1, Date.now() * 1_000 + Math.floor(Math.random() * 1_000))
  return Math.max(floor + 1, lastVersion)
}
