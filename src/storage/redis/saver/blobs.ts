import type { Checkpoint, CheckpointMetadata } from '../../checkpointer/checkpointer.ts'
import { placeOf } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { fromText, toText } from '../../text.ts'
import type { Argument } from '../line.ts'
import { toUtf8 } from '../store/entries.ts'

/** How a saver's parts become the bytes that Redis keeps: a line that says what they are, then the bytes of the serde. */

const LINE_FEED = 10
const NUL = 0

export function checkpointOf(namespace: string, id: string): string {
  return `${toText(namespace)}\0${toText(id)}`
}

export function readCheckpoint(checkpoint: string): [namespace: string, id: string] {
  const [namespace, id] = checkpoint.split('\0') as [string, string]
  return [fromText(namespace), fromText(id)]
}

async function encode(serde: Serde, about: string, value: unknown): Promise<Uint8Array> {
  const [type, data] = await serde.dumpsTyped(value)
  return Buffer.concat([Buffer.from(`${about}${encodeURIComponent(toText(type))}\n`), data])
}

export async function revive(serde: Serde, blob: Uint8Array): Promise<unknown> {
  const end = blob.indexOf(LINE_FEED)
  return load(serde, toUtf8(blob.subarray(0, end)), blob.subarray(end + 1))
}

function load(serde: Serde, type: string, data: Uint8Array): Promise<unknown> {
  // Not a Buffer, which the clients give: it would show in the state.
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return serde.loadsTyped(fromText(decodeURIComponent(type)), bytes)
}

/** From `body` on, what the script `PUT_CHECKPOINT` takes. `isNew` tells which channels are stored; the others are found with earlier checkpoints. */
export async function encodeCheckpoint(
  serde: Serde,
  { channel_values: values, ...body }: Checkpoint,
  metadata: CheckpointMetadata,
  isNew: (channel: string) => boolean,
): Promise<{ readonly args: readonly Argument[]; readonly carried: readonly string[] }> {
  const versions = Object.entries(body.channel_versions)
  const changed = versions.filter(([channel]) => isNew(channel))
  const carried = versions.filter(([channel]) => !isNew(channel))
  // All at once, before anything is awaited: the graph goes on and may change what it gave.
  const [[type, bodyBytes], [metadataType, metadataBytes], ...blobs] = await Promise.all([
    serde.dumpsTyped(body),
    serde.dumpsTyped(metadata),
    ...changed.map(([channel]) =>
      Object.hasOwn(values, channel) ? encode(serde, '', values[channel]) : undefined,
    ),
  ])
  const about = JSON.stringify([toText(type), bodyBytes.length, toText(metadataType)])
  return {
    args: [
      Buffer.concat([Buffer.from(`${about}\n`), bodyBytes, metadataBytes]),
      String(changed.length),
      ...changed.flatMap(([channel, version], i) => [
        versionOf(channel, version),
        blobs[i] ? '1' : '0',
        blobs[i] ?? '',
      ]),
      ...carried.map(([channel, version]) => versionOf(channel, version)),
    ],
    carried: carried.map(([channel]) => channel),
  }
}

/** 1 and '1' are different versions. */
function versionOf(channel: string, version: number | string): string {
  return `${toText(channel)}\0${JSON.stringify(version)}`
}

export function channelOf(version: string): string {
  return fromText(version.slice(0, version.indexOf('\0')))
}

function readBody(blob: Uint8Array) {
  const line = blob.indexOf(LINE_FEED)
  const [type, length, metadataType] = JSON.parse(toUtf8(blob.subarray(0, line))) as [string, number, string]
  const metadata = line + 1 + length
  return { type, body: blob.subarray(line + 1, metadata), metadataType, metadata: blob.subarray(metadata) }
}

export async function reviveBody(
  serde: Serde,
  blob: Uint8Array,
): Promise<Omit<Checkpoint, 'channel_values'>> {
  const { type, body } = readBody(blob)
  return (await load(serde, encodeURIComponent(type), body)) as Omit<Checkpoint, 'channel_values'>
}

export async function reviveMetadata(serde: Serde, blob: Uint8Array): Promise<CheckpointMetadata> {
  const { metadataType, metadata } = readBody(blob)
  return (await load(serde, encodeURIComponent(metadataType), metadata)) as CheckpointMetadata
}

/** What the script `PUT_WRITES` takes of them. */
export async function encodeWrites(
  serde: Serde,
  checkpoint: string,
  taskId: string,
  writes: readonly (readonly [channel: string, value: unknown])[],
): Promise<Argument[]> {
  const blobs = await Promise.all(
    writes.map(([channel, value]) => encode(serde, `${toText(channel)}\0`, value)),
  )
  return writes.flatMap(([channel], position) => {
    const place = placeOf(channel, position)
    return [`w${checkpoint}\0${toText(taskId)}\0${place}`, place < 0 ? '1' : '', blobs[position]!]
  })
}

export interface KeptWrite {
  readonly taskId: string
  readonly place: number
  readonly channel: string
  readonly blob: Uint8Array
}

/** `field, blob` of each. By task, then place. */
export function readWrites(flat: readonly Uint8Array[]): KeptWrite[] {
  const writes: (KeptWrite & { readonly task: string })[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [task, place] = toUtf8(flat[i]!).split('\0').slice(-2) as [string, string]
    const end = flat[i + 1]!.indexOf(NUL)
    writes.push({
      task,
      taskId: fromText(task),
      place: Number(place),
      channel: fromText(toUtf8(flat[i + 1]!.subarray(0, end))),
      blob: flat[i + 1]!.subarray(end + 1),
    })
  }
  return writes.sort((a, b) => (a.taskId === b.taskId ? a.place - b.place : a.taskId < b.taskId ? -1 : 1))
}
