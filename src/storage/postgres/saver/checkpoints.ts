import type {
  CheckpointToStore,
  Stored,
  StoredCheckpoint,
  StoredVersion,
  StoredWrite,
  WritesToStore,
} from '../../checkpointer/stored.ts'
import type { Row } from '../pool.ts'
import { fromText, keyOf, namesOf, readNames, toText } from '../text.ts'

/** `[version, value id | null]` by channel. */
export type Cells = Readonly<Record<string, readonly [version: string, id: number | null]>>

/** The parameters of the function `put_checkpoint` after the fence's. */
export function putParameters(
  { threadId, namespace, checkpointId, parentId, body, metadata, changed, carried }: CheckpointToStore,
  latest: boolean,
): readonly unknown[] {
  const names = [threadId, namespace, checkpointId, parentId] as const
  const data = [body.data, metadata.data, ...changed.flatMap(({ value }) => (value ? [value.data] : []))]
  return [
    ...names.map((name) => (name === undefined ? null : keyOf(name))),
    namesOf(...names),
    JSON.stringify({
      type: toText(body.type),
      bytes: body.data.length,
      metadataType: toText(metadata.type),
      metadataBytes: metadata.data.length,
    }),
    JSON.stringify(
      changed.map(({ value, ...version }) => ({
        ...keysOf(version),
        ...(value && { type: toText(value.type), bytes: value.data.length }),
      })),
    ),
    JSON.stringify(carried.map(keysOf)),
    latest,
    Buffer.concat(data),
  ]
}

const keysOf = ({ channel, version }: StoredVersion) => ({ channel: keyOf(channel), version: keyOf(version) })

/** The parameters of the function `put_writes` after the fence's. */
export function writesParameters({
  threadId,
  namespace,
  checkpointId,
  taskId,
  writes,
}: WritesToStore): readonly unknown[] {
  return [
    ...[threadId, namespace, checkpointId, taskId].map(keyOf),
    namesOf(taskId),
    JSON.stringify(
      writes.map(({ place, channel, type, data }) => ({
        place,
        channel: toText(channel),
        type: toText(type),
        bytes: data.length,
      })),
    ),
    Buffer.concat(writes.map(({ data }) => data)),
  ]
}

type AboutCheckpoint = [
  thread: string,
  namespace: string,
  checkpoint: string,
  parent: string | null,
  names: string | null,
  cells: Cells,
  metadataType: string,
]

/** From the rows of the function `load`, in the order of the addresses. */
export function readCheckpoints(rows: readonly Row[]): StoredCheckpoint[] {
  const values = new Map(rows.filter(({ kind }) => kind === 'value').map((row) => [Number(row.at), row]))
  const checkpoints = rows.filter(({ kind }) => kind === 'checkpoint')
  checkpoints.sort((a, b) => Number(a.at) - Number(b.at))
  return checkpoints.map((row): StoredCheckpoint => {
    const [thread, space, id, parent, names, cells, metadataType] = JSON.parse(row.about!) as AboutCheckpoint
    const [threadId, namespace, checkpointId, parentId] = readNames(names, thread, space, id, parent)
    return {
      threadId,
      namespace,
      checkpointId,
      parentId: parentId ?? undefined,
      body: toStored(row.type!, row.data!),
      metadata: toStored(metadataType, row.metadata!),
      value(channel) {
        const value = values.get(cells[keyOf(channel)]?.[1] ?? -1)
        return value && toStored(value.type!, value.data!)
      },
      writes: rows.filter(({ kind, at }) => kind === 'write' && at === row.at).map(readWrite),
    }
  })
}

type AboutWrite = [task: string, place: number, names: string | null, channel: string]

/** From a row with `about` as `aboutWrite` selects it, `type` and `data`. */
export function readWrite(row: Row): StoredWrite {
  const [task, place, names, channel] = JSON.parse(row.about!) as AboutWrite
  const [taskId] = readNames(names, task)
  return { taskId, place, channel: fromText(channel), ...toStored(row.type!, row.data!) }
}

export function toStored(type: string, hex: string): Stored {
  return { type: fromText(type), data: Buffer.from(hex, 'hex') }
}
