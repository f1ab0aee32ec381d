import { type CheckpointPlace, type SavedAt, TASKS } from './config.ts'
import { DATABASE } from './fenced.ts'
import { type CheckpointScope, listTuples } from './list-tuples.ts'
import type { Remainder } from './newest-checkpoint.ts'
import { type CheckpointSaver, type CheckpointTuples, createSaver } from './saver.ts'
import { jsonSerde, type Serde } from './serde.ts'
import {
  type CheckpointToStore,
  decode,
  decodeMetadata,
  decodeTuple,
  decodeWrites,
  encodeCheckpoint,
  encodeWrites,
  type Stored,
  type StoredCheckpoint,
  type StoredWrite,
  type WritesToStore,
} from './stored-checkpoint.ts'

/** A saver over a database, for `graph.compile({ checkpointer })`. */
export interface DurableCheckpointer extends CheckpointSaver {
  readonly [DATABASE]: object
  setup(): Promise<void>
  end(): Promise<void>
  withFence(partition: string, token: number): DurableCheckpointer
  withSerde?(serde: Serde): DurableCheckpointer
}

export interface Fence {
  readonly partition: string
  readonly token: number
}

/** The database calls of a saver. Calls with a fence check it in the transaction that writes. */
export interface CheckpointTables {
  /** In the order of the addresses, without missing ones. */
  load(addresses: readonly SavedAt[]): Promise<readonly StoredCheckpoint[]>
  pages(
    scope: CheckpointScope,
    size: number,
    withMetadata: boolean,
  ): AsyncIterable<readonly ListedCheckpoint[]>
  /**
   * If several earlier checkpoints have the version of a `carried` channel, because branches have the same
   * version numbers, writes nothing and returns these channels. With `latest`, uses the value that was
   * written last.
   *
   * With a fence, throws `FencedError` also if the parent is missing, because the database has forgotten it:
   * unchanged values may be missing, too. The run is then continued from what is there.
   */
  put(fence: Fence | undefined, checkpoint: CheckpointToStore, latest: boolean): Promise<readonly string[]>
  putWrites(fence: Fence | undefined, writes: WritesToStore): Promise<void>
  deleteThread(fence: Fence | undefined, threadId: string): Promise<void>
  /**
   * Deletes from each namespace the checkpoints that are not listed, their writes, and unreferenced values. A
   * namespace with a checkpoint newer than `newest` is unchanged.
   */
  keepOnly(fence: Fence | undefined, threadId: string, remainders: readonly Remainder[]): Promise<void>
  /**
   * A checkpoint and its ancestors, nearest first, at most `most`. A shorter result may be incomplete; an
   * empty result is complete.
   */
  line(at: SavedAt, channels: readonly string[], most: number): Promise<readonly StoredAncestor[]>
}

export interface ListedCheckpoint extends CheckpointPlace {
  /** Undefined if it was not requested. */
  readonly metadata: Stored | undefined
}

export interface StoredAncestor {
  readonly checkpointId: string
  readonly parentId: string | undefined
  /** May include writes to other channels. */
  readonly writes: readonly StoredWrite[]
  value(channel: string): Promise<Stored | undefined>
}

interface DurableSaverOptions {
  readonly name: string
  readonly database: { setup(): Promise<void> }
  readonly tables: CheckpointTables
  /** Undefined: `jsonSerde`, unless a view is given another serde. */
  readonly serde: Serde | undefined
  readonly close: () => Promise<void>
  readonly fence?: Fence | undefined
}

export function createDurableSaver(options: DurableSaverOptions): DurableCheckpointer {
  const { name, database, tables, serde = jsonSerde, close, fence } = options
  return {
    ...createSaver(name, serde, createTuples(tables, serde, fence)),
    [DATABASE]: database,
    setup: () => database.setup(),
    end: close,
    withFence: (partition, token) => createDurableSaver({ ...options, fence: { partition, token } }),
    ...(options.serde === undefined && {
      withSerde: (chosen: Serde) => createDurableSaver({ ...options, serde: chosen }),
    }),
  }
}

/** Addresses per read. */
const PLACES = 1_000
/** Ancestors per read. */
const ANCESTORS = 100

function createTuples(tables: CheckpointTables, serde: Serde, fence: Fence | undefined): CheckpointTuples {
  const loadTuples = (addresses: readonly SavedAt[]) => loadTuplesBy(tables, serde, addresses)

  return {
    load: async (at) => (await loadTuples([at]))[0],
    async newest(threadId, namespace) {
      const scope = { threadId, namespace, checkpointId: undefined, before: undefined }
      for await (const [place] of tables.pages(scope, 1, false)) return place?.checkpointId
      return undefined
    },
    list: (config, options) =>
      listTuples(
        {
          pages: tables.pages,
          metadataOf: ({ metadata }: ListedCheckpoint) => decodeMetadata(serde, metadata!),
          load: loadTuples,
        },
        config,
        options,
      ),
    async put(given) {
      const { checkpoint, newVersions } = given
      const isChanged = (channel: string) => Object.hasOwn(newVersions, channel)
      const ambiguous = await tables.put(fence, await encodeCheckpoint(serde, given, isChanged), false)
      if (ambiguous.length === 0) return
      const values = new Set(ambiguous.filter((channel) => Object.hasOwn(checkpoint.channel_values, channel)))
      const isNew = (channel: string) => isChanged(channel) || values.has(channel)
      await tables.put(fence, await encodeCheckpoint(serde, given, isNew), true)
    },
    async putWrites(given) {
      await tables.putWrites(fence, await encodeWrites(serde, given))
    },
    deleteThread: (threadId) => tables.deleteThread(fence, threadId),
    async *places(threadId) {
      const scope = { threadId, namespace: undefined, checkpointId: undefined, before: undefined }
      for await (const page of tables.pages(scope, PLACES, false)) yield* page
    },
    keepOnly: (threadId, remainders) => tables.keepOnly(fence, threadId, remainders),
    async *ancestors(at, channels) {
      for await (const { checkpointId, writes, value } of ancestorsOf(tables, at, channels)) {
        const wanted = writes.filter(({ channel }) => channels.includes(channel))
        yield {
          checkpointId,
          writes: await decodeWrites(serde, wanted),
          async value(channel) {
            const stored = await value(channel)
            return stored && decode(serde, stored)
          },
        }
      }
    },
  }
}

async function loadTuplesBy(tables: CheckpointTables, serde: Serde, addresses: readonly SavedAt[]) {
  const found = await tables.load(addresses)
  return Promise.all(
    found.map((stored) =>
      decodeTuple(serde, stored, async (parentId) => {
        const [parent] = await tables.line({ ...stored, checkpointId: parentId }, [TASKS], 1)
        return parent?.writes.filter(({ channel }) => channel === TASKS) ?? []
      }),
    ),
  )
}

async function* ancestorsOf(
  tables: CheckpointTables,
  at: SavedAt,
  channels: readonly string[],
): AsyncGenerator<StoredAncestor> {
  let line = await tables.line(at, channels, ANCESTORS)
  yield* line.slice(1)
  for (let parentId = line.at(-1)?.parentId; parentId !== undefined; parentId = line.at(-1)?.parentId) {
    line = await tables.line({ ...at, checkpointId: parentId }, channels, ANCESTORS)
    yield* line
  }
}
