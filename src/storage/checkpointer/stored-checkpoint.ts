import { UnsavableError } from '../errors.ts'
import { compareKeys } from '../store/cursor.ts'
import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from './checkpointer.ts'
import { addPendingSends, configOf, TASKS, writeIndexOf } from './config.ts'
import type { PendingWrite } from './delta-history.ts'
import type { NewCheckpoint, NewWrites } from './saver.ts'
import { BigIntError, type Serde } from './serde.ts'

/** A value as its serde wrote it. */
export interface Stored {
  readonly type: string
  readonly data: Uint8Array
}

/** A channel and its version as JSON text, because 1 and '1' are different versions. */
export interface StoredVersion {
  readonly channel: string
  readonly version: string
}

/** A checkpoint to be stored in a database. */
export interface CheckpointToStore {
  readonly threadId: string
  readonly namespace: string
  readonly checkpointId: string
  readonly parentId: string | undefined
  /** The checkpoint without its channel values. */
  readonly body: Stored
  readonly metadata: Stored
  /** Without a value if the channel has none. */
  readonly changed: readonly (StoredVersion & { readonly value: Stored | undefined })[]
  /** Channels whose values are in the parent, or otherwise in another checkpoint of the namespace. */
  readonly carried: readonly StoredVersion[]
}

/** A task's write. Indexes below 0 are overwritten, all others keep their first write. */
export interface StoredWrite extends Stored {
  readonly taskId: string
  readonly place: number
  readonly channel: string
}

export interface WritesToStore extends Omit<NewWrites, 'writes'> {
  readonly writes: readonly Omit<StoredWrite, 'taskId'>[]
}

export interface StoredCheckpoint
  extends Pick<
    CheckpointToStore,
    'threadId' | 'namespace' | 'checkpointId' | 'parentId' | 'body' | 'metadata'
  > {
  value(channel: string): Stored | undefined
  readonly writes: readonly StoredWrite[]
}

/** Encodes everything before the first await, because the graph may change its arguments afterwards. */
export async function encodeCheckpoint(
  serde: Serde,
  { threadId, namespace, parentId, checkpoint, metadata }: NewCheckpoint,
  isNew: (channel: string) => boolean,
): Promise<CheckpointToStore> {
  const { channel_values: values, ...rest } = checkpoint
  const versions = Object.entries(rest.channel_versions).map(([channel, version]): StoredVersion => {
    return { channel, version: JSON.stringify(version) }
  })
  const changed = versions.filter(({ channel }) => isNew(channel))
  const [body, encodedMetadata, ...encoded] = await Promise.all([
    encode(serde, 'checkpoint', rest),
    encode(serde, 'metadata', metadata),
    ...changed.map(({ channel }) =>
      Object.hasOwn(values, channel) ? encode(serde, channel, values[channel]) : undefined,
    ),
  ])
  return {
    threadId,
    namespace,
    checkpointId: rest.id,
    parentId,
    body,
    metadata: encodedMetadata,
    changed: changed.map((version, i) => ({ ...version, value: encoded[i] })),
    carried: versions.filter(({ channel }) => !isNew(channel)),
  }
}

export async function encodeWrites(
  serde: Serde,
  { threadId, namespace, checkpointId, taskId, writes }: NewWrites,
): Promise<WritesToStore> {
  const encoded = writes.map(async ([channel, value], position) => {
    const { type, data } = await encode(serde, channel, value)
    return { place: writeIndexOf(channel, position), channel, type, data }
  })
  return { threadId, namespace, checkpointId, taskId, writes: await Promise.all(encoded) }
}

async function encode(serde: Serde, channel: string, value: unknown): Promise<Stored> {
  try {
    const [type, data] = await serde.dumpsTyped(value)
    return { type, data }
  } catch (cause) {
    const why =
      cause instanceof BigIntError
        ? 'contains a BigInt. Use a number or a string'
        : 'cannot be written as JSON'
    throw new UnsavableError(`The state cannot be saved: ${JSON.stringify(channel)} ${why}.`, { cause })
  }
}

export async function decode(serde: Serde, { type, data }: Stored): Promise<unknown> {
  // Drivers return a Buffer, which would appear in the state.
  const isPlain = Object.getPrototypeOf(data) === Uint8Array.prototype
  const bytes = isPlain ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return serde.loadsTyped(type, bytes)
}

export function decodeMetadata(serde: Serde, metadata: Stored): Promise<CheckpointMetadata> {
  return decode(serde, metadata) as Promise<CheckpointMetadata>
}

export function decodeWrites(serde: Serde, writes: readonly StoredWrite[]): Promise<PendingWrite[]> {
  return Promise.all(
    inOrder(writes).map(async (write): Promise<PendingWrite> => {
      return [write.taskId, write.channel, await decode(serde, write)]
    }),
  )
}

/** `loadSends` returns the parent's writes to the channel `TASKS`. */
export async function decodeTuple(
  serde: Serde,
  { threadId, namespace, parentId, value, body, metadata, writes }: StoredCheckpoint,
  loadSends: (parentId: string) => Promise<readonly StoredWrite[]>,
): Promise<CheckpointTuple> {
  const rest = (await decode(serde, body)) as Omit<Checkpoint, 'channel_values'>
  const values = Object.keys(rest.channel_versions).map(async (channel) => {
    const stored = value(channel)
    return stored && ([channel, await decode(serde, stored)] as const)
  })
  const given = (await Promise.all(values)).filter((entry) => entry !== undefined)
  return toTuple(
    { threadId, namespace, parentId },
    {
      checkpoint: { ...rest, channel_values: Object.fromEntries(given) },
      metadata: await decodeMetadata(serde, metadata),
      pendingWrites: await decodeWrites(serde, writes),
    },
    async (parentId) => decodeWrites(serde, await loadSends(parentId)),
  )
}

type TupleParts = Required<Pick<CheckpointTuple, 'checkpoint' | 'metadata' | 'pendingWrites'>>

/** Before format 4, a step's sends were stored with its parent's writes. */
export async function toTuple(
  { threadId, namespace, parentId }: Pick<NewCheckpoint, 'threadId' | 'namespace' | 'parentId'>,
  parts: TupleParts,
  writesOf: (parentId: string) => readonly PendingWrite[] | Promise<readonly PendingWrite[]>,
): Promise<CheckpointTuple> {
  const { checkpoint } = parts
  if (checkpoint.v < 4 && parentId !== undefined) {
    const sends = (await writesOf(parentId)).filter(([, channel]) => channel === TASKS)
    addPendingSends(
      checkpoint,
      sends.map(([, , value]) => value),
    )
  }
  return {
    config: configOf(threadId, namespace, checkpoint.id),
    ...parts,
    ...(parentId !== undefined && { parentConfig: configOf(threadId, namespace, parentId) }),
  }
}

export function inOrder<Write extends Pick<StoredWrite, 'taskId' | 'place'>>(
  writes: readonly Write[],
): Write[] {
  return [...writes].sort((a, b) => compareKeys(a.taskId, b.taskId) || a.place - b.place)
}
