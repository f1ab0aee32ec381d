import { addressOf, configOf, missing, nextVersion } from '../checkpoint-config.ts'
import type { CheckpointConfig, CheckpointTuple } from '../checkpointer.ts'
import { FencedError } from '../errors.ts'
import { DATABASE } from '../fenced.ts'
import type { MemoryCheckpointer } from '../memory-checkpointer.ts'
import { jsonSerde, type Serde } from '../serde.ts'
import { encodeCheckpoint, encodeWrites } from './checkpoint-rows.ts'
import { type Database, type Row, readNumbers } from './database.ts'
import { loadDeltaHistory } from './history.ts'
import { listTuples } from './list-tuples.ts'
import { keyOf, namesOf } from './text.ts'
import { type Address, loadTuples } from './tuples.ts'

/** A `Checkpointer` with all of LangGraph's `BaseCheckpointSaver`: fit for `graph.compile({ checkpointer })`. */
export interface PostgresCheckpointer extends MemoryCheckpointer {
  readonly [DATABASE]: object
  setup(): Promise<void>
  end(): Promise<void>
  withFence(partition: string, token: number): PostgresCheckpointer
  withSerde?(serde: Serde): PostgresCheckpointer
}

interface CheckpointerOptions {
  readonly database: Database
  /** Undefined: `jsonSerde`, until a view is given another. */
  readonly serde: Serde | undefined
  readonly close: () => Promise<void>
  readonly fence?: Fence | undefined
}

/** The lease under which a view writes. */
interface Fence {
  readonly partition: string
  readonly token: number
}

export function createCheckpointer(options: CheckpointerOptions): PostgresCheckpointer {
  const { database, serde = jsonSerde, close, fence } = options
  const { of } = database.names

  /** Calls a function that checks the fence first. */
  async function write(call: string, ...values: unknown[]): Promise<Row> {
    const places = values.map((_, i) => `$${i + 3}`)
    const [row] = await database.run({
      text: `SELECT * FROM ${of(call)}($1, $2, ${places})`,
      values: [fence ? keyOf(fence.partition) : null, fence?.token ?? null, ...values],
      mutates: true,
    })
    if (row!.fenced === 't') {
      throw new FencedError(`The lease of ${fence!.partition} is no longer held with this token.`)
    }
    return row!
  }

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const address = toAddress(config)
    return address && (await loadTuples(database, serde, [address]))[0]
  }

  return {
    [DATABASE]: database,
    serde,
    getTuple,
    async get(config) {
      return (await getTuple(config))?.checkpoint
    },
    list: (config, listOptions) => listTuples(database, serde, config, listOptions),
    async put(config, checkpoint, metadata, newVersions) {
      const { threadId, namespace = '', checkpointId: parentId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      const names = [threadId, namespace, checkpoint.id, parentId] as const
      const keys = names.map((name) => (name === undefined ? null : keyOf(name)))
      const isChanged = (channel: string) => Object.hasOwn(newVersions, channel)
      const send = async (isNew: (channel: string) => boolean, latest: boolean) => {
        const encoded = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
        const { head, changed, carried, carriedChannels, data } = encoded
        const row = await write(
          'put_checkpoint',
          ...keys,
          namesOf(...names),
          head,
          changed,
          carried,
          latest,
          data,
        )
        return readNumbers(row.ambiguous!).map((place) => carriedChannels[place]!)
      }
      const ambiguous = await send(isChanged, false)
      if (ambiguous.length > 0) {
        const given = new Set(
          ambiguous.filter((channel) => Object.hasOwn(checkpoint.channel_values, channel)),
        )
        await send((channel) => isChanged(channel) || given.has(channel), true)
      }
      return configOf(threadId, namespace, checkpoint.id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      if (checkpointId === undefined) throw missing('checkpoint_id')
      const encoded = await encodeWrites(serde, writes)
      const keys = [threadId, namespace, checkpointId, taskId].map(keyOf)
      await write('put_writes', ...keys, namesOf(taskId), encoded.writes, encoded.data)
    },
    async deleteThread(threadId) {
      const thread = keyOf(threadId)
      const [checkpoints, values, writes] = ['checkpoints', 'channel_values', 'writes'].map(of)
      await database.run({
        text: `WITH c AS (DELETE FROM ${checkpoints} WHERE thread_id = $1),
            v AS (DELETE FROM ${values} WHERE thread_id = $1)
          DELETE FROM ${writes} WHERE thread_id = $1`,
        values: [thread],
        mutates: true,
      })
    },
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const address = toAddress(config)
      if (!address) return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
      return loadDeltaHistory(database, serde, address, channels)
    },
    setup: () => database.setup(),
    end: close,
    withFence: (partition, token) => createCheckpointer({ ...options, fence: { partition, token } }),
    ...(options.serde === undefined && {
      withSerde: (chosen: Serde) => createCheckpointer({ ...options, serde: chosen }),
    }),
    toJSON: () => '[postgresCheckpointer]',
  }
}

function toAddress(config: CheckpointConfig): Address | undefined {
  const { threadId, namespace = '', checkpointId } = addressOf(config)
  if (threadId === undefined) return undefined
  return [keyOf(threadId), keyOf(namespace), checkpointId === undefined ? null : keyOf(checkpointId)]
}
