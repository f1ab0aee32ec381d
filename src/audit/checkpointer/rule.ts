import type {
  ChannelVersion,
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import { FencedError } from '../../storage/errors.ts'
import type { Op, Store } from '../../storage/store/store.ts'

/** The context of a rule: a saver that may contain other data, and unused names. */
export interface CheckpointerContext {
  readonly checkpointer: Checkpointer
  readonly threadId: string
  put(number: number, draft?: Omit<Draft, 'threadId'>): Promise<CheckpointConfig>
  /** The channel values at a checkpoint of the thread. Default: the newest. */
  valuesOf(number?: number): ReturnType<typeof valuesAt>
  /** The tuple of a checkpoint of the thread. Default: the newest. */
  tuple(number?: number): Promise<CheckpointTuple | undefined>
  /** Puts the writes of one of the thread's tasks. */
  write(number: number, task: string, values: Readonly<Record<string, unknown>>): Promise<void>
  /** Takes the lease of a partition. Default: the thread's. */
  take(token: number, partition?: string): Promise<void>
  release(token: number): Promise<void>
  /** A view of the saver that writes only while the partition's lease is held with this token. */
  fenced(token: number, partition?: string): Checkpointer
  unique(): string
}

export interface Draft {
  readonly threadId: string
  readonly namespace?: string
  readonly parent?: number | undefined
  readonly values?: Record<string, unknown>
  readonly versions?: Record<string, ChannelVersion>
  /** Default: all of `versions`. */
  readonly changed?: Record<string, ChannelVersion>
  readonly metadata?: Record<string, unknown>
}

/** A checkpoint id. Ids sort by number. */
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
  const config = at(threadId, parent === undefined ? undefined : idOf(parent), namespace)
  return saver.put(config, checkpoint, meta, draft.changed ?? versions)
}

/** The channel values at a checkpoint. Default: the newest. */
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

/** What the audits need from a store whose leases fence a saver. */
export interface Leases {
  readonly store: Pick<Store, 'assertFence'>
  take(partition: string, token: number): Promise<void>
  release(partition: string, token: number): Promise<void>
}

export function leasesOf(store: Store): Leases {
  const commit = async (partition: string, op: Op) => void (await store.commit(partition, { ops: [op] }))
  return {
    store,
    take: (partition, token) =>
      commit(partition, { op: 'claim', owner: `owner ${token}`, token, ttlMs: 60_000 }),
    release: (partition, token) => commit(partition, { op: 'release', token }),
  }
}

/** Leases in memory. They do not expire; no audit waits for expiry. */
export function memoryLeases(): Leases {
  const held = new Map<string, number>()
  return {
    store: {
      async assertFence(partition, token) {
        if (held.get(partition) !== token) throw new FencedError(`The lease ${token} is not held.`)
      },
    },
    async take(partition, token) {
      held.set(partition, token)
    },
    async release(partition, token) {
      if (held.get(partition) === token) held.delete(partition)
    },
  }
}
