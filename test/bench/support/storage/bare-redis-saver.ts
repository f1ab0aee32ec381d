import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from '@langchain/langgraph'
import type { PendingWrite } from '@langchain/langgraph-checkpoint'
import Redis from 'ioredis'

/** Where checkpoints of a thread and their writes are: hashes, by the id of the checkpoint. */
const keysOf = (config: RunnableConfig) => {
  const { thread_id, checkpoint_ns = '' } = config.configurable!
  const place = `bare:${thread_id}:${checkpoint_ns}`
  return {
    checkpoints: place,
    writesOf: (id: string) => `${place}:${id}`,
    id: config.configurable!.checkpoint_id,
  }
}

/**
 * The least that a saver over Redis can do: one command puts a whole checkpoint, and one the writes of a task. It cannot list or
 * delete, and shares no values between checkpoints.
 */
class BareRedisSaver extends BaseCheckpointSaver {
  readonly #client: Redis

  constructor(client: Redis) {
    super()
    this.#client = client
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { checkpoints, writesOf, id = await this.#client.hget(checkpoints, 'newest') } = keysOf(config)
    if (!id) return undefined
    const [[, saved], [, writes]] = (await this.#client
      .multi()
      .hget(checkpoints, id)
      .hgetall(writesOf(id))
      .exec()) as [[null, string | null], [null, Record<string, string>]]
    if (saved === null) return undefined
    const [checkpoint, metadata, parent] = (await this.serde.loadsTyped('json', saved)) as [
      Checkpoint,
      CheckpointMetadata,
      string | undefined,
    ]
    const at = (checkpoint_id: string) => ({ configurable: { ...config.configurable, checkpoint_id } })
    return {
      config: at(id),
      checkpoint,
      metadata,
      ...(parent !== undefined && { parentConfig: at(parent) }),
      pendingWrites: await Promise.all(
        Object.values(writes).map((write) => this.serde.loadsTyped('json', write)),
      ),
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { checkpoints, id: parent } = keysOf(config)
    const [, data] = await this.serde.dumpsTyped([checkpoint, metadata, parent])
    await this.#client.hset(checkpoints, checkpoint.id, Buffer.from(data), 'newest', checkpoint.id)
    return { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } }
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { writesOf, id } = keysOf(config)
    const fields = writes.map(async ([channel, value], place) => {
      const [, data] = await this.serde.dumpsTyped([taskId, channel, value])
      return [`${taskId} ${place}`, Buffer.from(data)] as const
    })
    await this.#client.hset(writesOf(id), ...(await Promise.all(fields)).flat())
  }

  // biome-ignore lint/correctness/useYield: it has none to give.
  async *list(): AsyncGenerator<CheckpointTuple> {
    throw new Error('The bare saver does not list.')
  }

  async deleteThread(): Promise<void> {
    throw new Error('The bare saver does not delete.')
  }
}

export const openBareRedisSaver = (url: string): unknown => new BareRedisSaver(new Redis(url))
