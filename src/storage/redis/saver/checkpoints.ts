import type {
  CheckpointToStore,
  Stored,
  StoredCheckpoint,
  StoredWrite,
  WritesToStore,
} from '../../checkpointer/stored-checkpoint.ts'
import { fromText, toText } from '../../text.ts'
import type { Argument } from '../connection.ts'
import { pairsOf, toUtf8 } from '../store/entries.ts'

/** Ends the line that describes the following bytes, which the serde wrote. */
const LINE_FEED = 10
const NUL = 0

/** A checkpoint in a name or a set. A namespace's checkpoints are ordered by id. */
export const checkpointOf = (namespace: string, id: string): string => `${toText(namespace)}\0${toText(id)}`

function readCheckpointOf(checkpoint: string): [namespace: string, id: string] {
  const [namespace, id] = checkpoint.split('\0') as [string, string]
  return [fromText(namespace), fromText(id)]
}

/** The arguments of the script `PUT_CHECKPOINT`, from the namespace on. */
export function putArguments({
  namespace,
  checkpointId,
  parentId,
  body,
  metadata,
  changed,
  carried,
}: CheckpointToStore): Argument[] {
  const about = JSON.stringify([toText(body.type), body.data.length, toText(metadata.type)])
  return [
    toText(namespace),
    checkpointOf(namespace, checkpointId),
    parentId === undefined ? '' : checkpointOf(namespace, parentId),
    Buffer.concat([Buffer.from(`${about}\n`), body.data, metadata.data]),
    String(changed.length),
    ...changed.flatMap(({ channel, version, value }) => [
      versionOf(channel, version),
      value ? '1' : '0',
      value ? toBlob('', value) : '',
    ]),
    ...carried.map(({ channel, version }) => versionOf(channel, version)),
  ]
}

/** The write arguments of the script `PUT_WRITES`. */
export function writesArguments({ namespace, checkpointId, taskId, writes }: WritesToStore): Argument[] {
  const prefix = `w${checkpointOf(namespace, checkpointId)}\0${toText(taskId)}\0`
  return writes.flatMap(({ place, channel, ...value }) => [
    `${prefix}${place}`,
    place < 0 ? '1' : '',
    toBlob(`${toText(channel)}\0`, value),
  ])
}

const versionOf = (channel: string, version: string): string => `${toText(channel)}\0${version}`

function toBlob(about: string, { type, data }: Stored): Uint8Array {
  return Buffer.concat([Buffer.from(`${about}${encodeURIComponent(toText(type))}\n`), data])
}

export function readBlob(blob: Uint8Array): Stored {
  const end = blob.indexOf(LINE_FEED)
  const type = fromText(decodeURIComponent(toUtf8(blob.subarray(0, end))))
  return { type, data: blob.subarray(end + 1) }
}

export function readBody(blob: Uint8Array): { readonly body: Stored; readonly metadata: Stored } {
  const line = blob.indexOf(LINE_FEED)
  const [type, length, metadataType] = JSON.parse(toUtf8(blob.subarray(0, line))) as [string, number, string]
  const end = line + 1 + length
  return {
    body: { type: fromText(type), data: blob.subarray(line + 1, end) },
    metadata: { type: fromText(metadataType), data: blob.subarray(end) },
  }
}

/** The parent or '', then `version, number` of each channel. The number is 0 if the channel has no value. */
type FlatCells = readonly [parent: Uint8Array, ...versions: (Uint8Array | number)[]]

function readCells(checkpoint: Uint8Array, [parent, ...versions]: FlatCells) {
  const [namespace, checkpointId] = readCheckpointOf(toUtf8(checkpoint))
  const numbers = pairsOf(versions).map(([version, number]) => {
    const [channel] = toUtf8(version as Uint8Array).split('\0', 1)
    return [fromText(channel!), number as number] as const
  })
  const parentId = parent.length === 0 ? undefined : readCheckpointOf(toUtf8(parent))[1]
  return { namespace, checkpointId, parentId, numbers: new Map(numbers) }
}

function readWrites(flat: readonly Uint8Array[]): StoredWrite[] {
  return pairsOf(flat).map(([field, blob]) => {
    const [task, place] = toUtf8(field).split('\0').slice(-2) as [string, string]
    const end = blob.indexOf(NUL)
    const channel = fromText(toUtf8(blob.subarray(0, end)))
    return { taskId: fromText(task), place: Number(place), channel, ...readBlob(blob.subarray(end + 1)) }
  })
}

export type Loaded = readonly [
  found: readonly (
    | readonly [checkpoint: Uint8Array, body: Uint8Array, FlatCells, writes: Uint8Array[]]
    | 0
  )[],
  values: readonly (number | Uint8Array)[],
]

/** In the requested order, with undefined for missing checkpoints. */
export function readLoaded(threadId: string, [found, flat]: Loaded): (StoredCheckpoint | undefined)[] {
  const values = new Map(pairsOf(flat) as [number, Uint8Array][])
  return found.map((each): StoredCheckpoint | undefined => {
    if (each === 0) return undefined
    const [checkpoint, body, cells, writes] = each
    const { numbers, ...place } = readCells(checkpoint, cells)
    return {
      threadId,
      ...place,
      ...readBody(body),
      value(channel) {
        const blob = values.get(numbers.get(channel) ?? 0)
        return blob && readBlob(blob)
      },
      writes: readWrites(writes),
    }
  })
}

export type Ancestors = readonly (readonly [checkpoint: Uint8Array, FlatCells, writes: Uint8Array[]])[]

export const readAncestors = (line: Ancestors) =>
  line.map(([checkpoint, cells, writes]) => ({ ...readCells(checkpoint, cells), writes: readWrites(writes) }))
