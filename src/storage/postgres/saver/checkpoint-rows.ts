import type { Checkpoint, CheckpointMetadata } from '../../checkpointer/checkpointer.ts'
import { placeOf } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { keyOf, toText } from '../text.ts'

/** A checkpoint in the form that the function `put_checkpoint` takes. */
export interface EncodedCheckpoint {
  readonly head: string
  readonly changed: string
  readonly carried: string
  /** The channels of `carried`, in its order. */
  readonly carriedChannels: readonly string[]
  readonly data: Uint8Array
}

/** `isNew` tells which channels are stored; the others are found with earlier checkpoints. */
export async function encodeCheckpoint(
  serde: Serde,
  { channel_values: values, ...body }: Checkpoint,
  metadata: CheckpointMetadata,
  isNew: (channel: string) => boolean,
): Promise<EncodedCheckpoint> {
  const versions = Object.entries(body.channel_versions)
  const changed = versions.filter(([channel]) => isNew(channel))
  const carried = versions.filter(([channel]) => !isNew(channel))
  // All at once, before anything is awaited: the graph goes on and may change what it gave.
  const [[type, bodyBytes], [metadataType, metadataBytes], ...dumped] = await Promise.all([
    serde.dumpsTyped(body),
    serde.dumpsTyped(metadata),
    ...changed.map(([channel]) =>
      Object.hasOwn(values, channel) ? serde.dumpsTyped(values[channel]) : undefined,
    ),
  ])
  return {
    head: JSON.stringify({
      type: toText(type),
      bytes: bodyBytes.length,
      metadataType: toText(metadataType),
      metadataBytes: metadataBytes.length,
    }),
    changed: JSON.stringify(
      changed.map(([channel, version], i) => ({
        channel: keyOf(channel),
        version: keyOf(JSON.stringify(version)),
        ...(dumped[i] && { type: toText(dumped[i][0]), bytes: dumped[i][1].length }),
      })),
    ),
    carried: JSON.stringify(
      carried.map(([channel, version]) => ({
        channel: keyOf(channel),
        version: keyOf(JSON.stringify(version)),
      })),
    ),
    carriedChannels: carried.map(([channel]) => channel),
    data: Buffer.concat([bodyBytes, metadataBytes, ...dumped.flatMap((value) => (value ? [value[1]] : []))]),
  }
}

/** Writes in the form that the function `put_writes` takes. */
export async function encodeWrites(
  serde: Serde,
  writes: readonly (readonly [channel: string, value: unknown])[],
): Promise<{ readonly writes: string; readonly data: Uint8Array }> {
  const dumped = await Promise.all(writes.map(([, value]) => serde.dumpsTyped(value)))
  return {
    writes: JSON.stringify(
      writes.map(([channel], position) => ({
        place: placeOf(channel, position),
        channel: toText(channel),
        type: toText(dumped[position]![0]),
        bytes: dumped[position]![1].length,
      })),
    ),
    data: Buffer.concat(dumped.map(([, bytes]) => bytes)),
  }
}
