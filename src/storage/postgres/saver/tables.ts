import type { SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence } from '../../checkpointer/durable-saver.ts'
import type {
  CheckpointToStore,
  Stored,
  StoredCheckpoint,
  StoredVersion,
  StoredWrite,
  WritesToStore,
} from '../../checkpointer/stored-checkpoint.ts'
import { type CheckpointSchema, checkpointPages } from '../../sql/checkpoints.ts'
import { fencedError } from '../../store/commit.ts'
import { type Database, numbered, readNumbers } from '../database.ts'
import type { Row } from '../pool.ts'
import { fromText, keyOf, namesOf, readNames, toText } from '../text.ts'
import type { WritingFunction } from '../writes.ts'
import { ANCESTORS, DELETE_THREAD, KEEP_ONLY } from './sql-checkpoints.ts'

const schemaOf = ({ run }: Database): CheckpointSchema<Row> => ({
  columns: ['names'],
  metadataColumns: ['metadata_type', `encode(metadata, 'hex') AS metadata`],
  nameOf: keyOf,
  all: (statement) => run(...numbered(statement)),
  toListed({ names, thread_id, namespace, checkpoint_id, metadata_type, metadata }) {
    const [threadId, name, checkpointId] = readNames(names!, thread_id!, namespace!, checkpoint_id!)
    const stored = metadata === undefined ? undefined : toStored(metadata_type!, metadata!)
    return { threadId, namespace: name, checkpointId, metadata: stored }
  },
})

export function createTables(database: Database): CheckpointTables {
  const { run, call, write } = database
  const schema = schemaOf(database)

  /** Both call the function that checks the fence first. */
  async function put(
    name: WritingFunction,
    fence: Fence | undefined,
    threadId: string,
    values: readonly unknown[],
  ) {
    const row = await write(keyOf(fence?.partition ?? threadId), name, [...fenceValues(fence), ...values])
    return assertHeld(fence, row)
  }

  async function remove(statement: string, fence: Fence | undefined, values: readonly unknown[]) {
    const [row] = await run(statement, [...fenceValues(fence), ...values], { mutates: true })
    assertHeld(fence, row!)
  }

  async function loadValue(id: number | null | undefined) {
    if (id === null || id === undefined) return undefined
    const text = `SELECT type, encode(data, 'hex') AS data FROM {channel_values} WHERE id = $1`
    const [row] = await run(text, [id], { prepared: true })
    return row && toStored(row.type!, row.data!)
  }

  return {
    load: async (addresses) => readCheckpoints(await call('load', [JSON.stringify(addresses.map(keysOf))])),
    pages: (scope, size, withMetadata) => checkpointPages(schema, scope, size, withMetadata),
    async put(fence, checkpoint, latest) {
      const row = await put('put_checkpoint', fence, checkpoint.threadId, putParameters(checkpoint, latest))
      return readNumbers(row.ambiguous!).map((place) => checkpoint.carried[place]!.channel)
    },
    async putWrites(fence, writes) {
      await put('put_writes', fence, writes.threadId, writesParameters(writes))
    },
    async deleteThread(fence, threadId) {
      await remove(DELETE_THREAD, fence, [keyOf(threadId)])
    },
    async keepOnly(fence, threadId, remainders) {
      const encoded = remainders.map(({ namespace, newest, checkpointIds }) => [
        ...[keyOf(namespace), keyOf(newest), checkpointIds.map(keyOf)],
      ])
      await remove(KEEP_ONLY, fence, [keyOf(threadId), JSON.stringify(encoded)])
    },
    async line(at, channels, most) {
      const [thread, namespace, from] = keysOf(at)
      const rows = await run(ANCESTORS, [thread, namespace, from, most, channels.map(toText)])
      return readAncestors(rows, thread!, namespace!).map(({ cells, ...ancestor }) => ({
        ...ancestor,
        value: (channel) => loadValue(cells[keyOf(channel)]?.[1]),
      }))
    },
  }
}

const fenceValues = (fence: Fence | undefined): readonly unknown[] =>
  fence ? [keyOf(fence.partition), fence.token] : [null, null]

function assertHeld(fence: Fence | undefined, row: Row): Row {
  if (row.fenced === 't') throw fencedError(fence!.partition)
  return row
}

/** From the rows of `ANCESTORS`, nearest first. */
function readAncestors(rows: readonly Row[], thread: string, namespace: string) {
  const writes = rows.filter(({ kind }) => kind === 'write')
  return rows
    .filter(({ kind }) => kind === 'checkpoint')
    .sort((a, b) => Number(a.depth) - Number(b.depth))
    .map(({ depth, about }) => {
      const [key, parent, names, cells] = JSON.parse(about!) as About
      const [, , checkpointId, parentId] = readNames(names, thread, namespace, key, parent)
      return {
        checkpointId,
        parentId: parentId ?? undefined,
        writes: writes.filter((row) => row.depth === depth).map(readWrite),
        cells,
      }
    })
}

type About = [checkpoint: string, parent: string | null, names: string | null, cells: Cells]

/** Null stands for the namespace's newest checkpoint. */
function keysOf({ threadId, namespace, checkpointId }: SavedAt): readonly (string | null)[] {
  return [keyOf(threadId), keyOf(namespace), checkpointId === undefined ? null : keyOf(checkpointId)]
}

/** `[version, value id | null]` by channel. */
type Cells = Readonly<Record<string, readonly [version: string, id: number | null]>>

/** The parameters of the function `put_checkpoint` after the fence's. */
function putParameters(
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
        ...versionKeysOf(version),
        ...(value && { type: toText(value.type), bytes: value.data.length }),
      })),
    ),
    JSON.stringify(carried.map(versionKeysOf)),
    latest,
    Buffer.concat(data),
  ]
}

const versionKeysOf = ({ channel, version }: StoredVersion) => ({
  channel: keyOf(channel),
  version: keyOf(version),
})

/** The parameters of the function `put_writes` after the fence's. */
function writesParameters({
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
function readCheckpoints(rows: readonly Row[]): StoredCheckpoint[] {
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
function readWrite(row: Row): StoredWrite {
  const [task, place, names, channel] = JSON.parse(row.about!) as AboutWrite
  const [taskId] = readNames(names, task)
  return { taskId, place, channel: fromText(channel), ...toStored(row.type!, row.data!) }
}

function toStored(type: string, hex: string): Stored {
  return { type: fromText(type), data: Buffer.from(hex, 'hex') }
}
