import type {
  ChannelVersion,
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import type { Store } from '../../storage/store/store.ts'

/** What a rule is checked with: a saver that may hold other data, and names that nobody else uses. */
export interface CheckpointerContext {
  readonly checkpointer: Checkpointer
  /** The store whose leases fence the saver. */
  readonly store: Store
  readonly threadId: string
  unique(): string
}

export interface Draft {
  readonly threadId: string
  readonly namespace?: string
  readonly parent?: string
  readonly values?: Record<string, unknown>
  readonly versions?: Record<string, ChannelVersion>
  /** Default: all of `versions`. */
  readonly changed?: Record<string, ChannelVersion>
  readonly metadata?: Record<string, unknown>
}

/** Ids that sort by number. */
export function idOf(number: number): string {
  return `1f000000-0000-6000-8000-${String(number).padStart(12, '0')}`
}

export function at(threadId: string, checkpointId?: string, namespace = ''): CheckpointConfig {
  const address = { thread_id: threadId, checkpoint_ns: namespace }
  return { configurable: checkpointId === undefined ? address : { ...address, checkpoint_id: checkpointId } }
}

export async function putDraft(saver: Checkpointer, number: number, draft: Draft): Promise<CheckpointConfig> {
  const { threadId, namespace = '', parent, values = {}, metadata = {} } = draft
  const versions = draft.versions ?? Object.fromEntries(Object.keys(values).map((channel) => [channel, 1]))
  const checkpoint: Checkpoint = {
    v: 4,
    id: idOf(number),
    ts: new Date(1_700_000_000_000 + number).toISOString(),
    channel_values: values,
    channel_versions: versions,
    versions_seen: { node: versions },
  }
  const meta = { source: 'loop' as const, step: number, parents: {}, ...metadata }
  return saver.put(at(threadId, parent, namespace), checkpoint, meta, draft.changed ?? versions)
}

/** The channel values at a checkpoint, or at the newest. */
export async function valuesAt(
  saver: Checkpointer,
  threadId: string,
  number?: number,
): Promise<Record<string, unknown> | undefined> {
  const tuple = await saver.getTuple(at(threadId, number === undefined ? undefined : idOf(number)))
  return tuple?.checkpoint.channel_values
}

export async function listAll(
  saver: Checkpointer,
  config: CheckpointConfig,
  options?: CheckpointListOptions,
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of saver.list(config, options)) tuples.push(tuple)
  return tuples
}
