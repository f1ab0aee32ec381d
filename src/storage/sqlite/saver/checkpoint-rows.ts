import type { ChannelVersion, Checkpoint, CheckpointMetadata } from '../../checkpointer/checkpointer.ts'
import { placeOf } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'

/** A value as its serde wrote it. */
export interface Encoded {
  readonly type: string
  readonly data: Uint8Array
}

/** What a checkpoint says of a channel: its version, and the row of `channel_values` with its value, if it has one. */
export type Cell = readonly [channel: string, version: ChannelVersion, id: number | null]

/** Thread, namespace and checkpoint, as `toText` gives them. */
export type Address = readonly [thread: string, namespace: string, checkpoint: string]

/** A checkpoint before its channels are found or written. */
export interface NewCheckpoint {
  readonly address: Address
  readonly parent: string | null
  readonly body: Encoded
  readonly metadata: Encoded
  readonly channels: readonly NewChannel[]
}

export interface NewChannel {
  readonly channel: string
  readonly version: ChannelVersion
  /** Undefined: the channel kept its version, so its value is there. Null: it has none. */
  readonly value: Encoded | null | undefined
}

export async function encode(serde: Serde, value: unknown): Promise<Encoded> {
  const [type, data] = await serde.dumpsTyped(value)
  return { type, data }
}

/** The values that `isNew` tells are written; those of the other channels are looked for. */
export async function encodeCheckpoint(
  serde: Serde,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  isNew: (channel: string) => boolean,
): Promise<Pick<NewCheckpoint, 'body' | 'metadata' | 'channels'>> {
  const { channel_values: values, ...rest } = checkpoint
  const channels = Object.entries(checkpoint.channel_versions).map(async ([channel, version]) => {
    if (!isNew(channel)) return { channel, version, value: undefined }
    return {
      channel,
      version,
      value: Object.hasOwn(values, channel) ? await encode(serde, values[channel]) : null,
    }
  })
  return {
    body: await encode(serde, rest),
    metadata: await encode(serde, metadata),
    channels: await Promise.all(channels),
  }
}

/**
 * Runs in a transaction. Finds the values that did not change: with the parent where that has the version, else anywhere in the
 * namespace. Where several rows have it, for branches number alike, and `latest` is false, it writes nothing and gives those channels.
 */
export function putCheckpoint(
  connection: Connection,
  of: (table: string) => string,
  { address, parent, body, metadata, channels }: NewCheckpoint,
  latest: boolean,
): string[] {
  const { get, all, run } = connection
  const [thread, namespace, checkpoint] = address
  const values = of('channel_values')
  const before = new Map<string, Cell>()
  if (parent !== null && channels.some(({ value }) => value === undefined)) {
    const sql = `SELECT cells FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ?`
    for (const cell of readCells(get(sql, thread, namespace, parent)?.cells ?? '[]'))
      before.set(cell[0], cell)
  }
  const ambiguous: string[] = []
  const found = new Map<string, number | null>()
  for (const { channel, version, value } of channels) {
    if (value !== undefined) continue
    const cell = before.get(channel)
    if (cell?.[1] === version) {
      found.set(channel, cell[2])
      continue
    }
    const candidates = all(
      `SELECT id FROM ${values} WHERE thread_id = ? AND namespace = ? AND channel = ? AND version = ? ORDER BY id DESC LIMIT 2`,
      ...[thread, namespace, toText(channel), versionText(version)],
    )
    if (candidates.length > 1 && !latest) ambiguous.push(channel)
    found.set(channel, candidates.length === 0 ? null : Number(candidates[0]!.id))
  }
  if (ambiguous.length > 0) return ambiguous
  const cells = channels.map(({ channel, version, value }): Cell => {
    if (value === undefined) return [channel, version, found.get(channel)!]
    if (value === null) return [channel, version, null]
    const row = get(
      `INSERT INTO ${values} (thread_id, namespace, channel, version, type, data) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
      ...[thread, namespace, toText(channel), versionText(version), value.type, value.data],
    )
    return [channel, version, Number(row!.id)]
  })
  run(
    `INSERT OR REPLACE INTO ${of('checkpoints')}
      (thread_id, namespace, checkpoint_id, parent_id, cells, metadata_type, metadata, body_type, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[thread, namespace, checkpoint, parent, JSON.stringify(cells)],
    ...[metadata.type, metadata.data, body.type, body.data],
  )
  return []
}

export function readCells(text: unknown): Cell[] {
  return JSON.parse(text as string) as Cell[]
}

/** 1 and '1' are different versions. */
function versionText(version: ChannelVersion): string {
  return JSON.stringify(version)
}

export interface NewWrite extends Encoded {
  readonly channel: string
  readonly place: number
}

export function encodeWrites(
  serde: Serde,
  writes: readonly (readonly [channel: string, value: unknown])[],
): Promise<NewWrite[]> {
  const encoded = writes.map(async ([channel, value], position): Promise<NewWrite> => {
    return { channel, place: placeOf(channel, position), ...(await encode(serde, value)) }
  })
  return Promise.all(encoded)
}

/** Numbered writes stay as they were first put; of the others the last one counts. */
export function putWrites(
  { run }: Connection,
  of: (table: string) => string,
  address: Address,
  task: string,
  writes: readonly NewWrite[],
): void {
  for (const { channel, place, type, data } of writes) {
    run(
      `INSERT OR ${place < 0 ? 'REPLACE' : 'IGNORE'} INTO ${of('writes')}
        (thread_id, namespace, checkpoint_id, task_id, place, channel, type, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[...address, task, place, toText(channel), type, data],
    )
  }
}
