import { addressOf, configOf, missing, nextVersion } from '../checkpoint-config.ts'
import type { CheckpointConfig, CheckpointTuple } from '../checkpointer.ts'
import { FencedError } from '../errors.ts'
import { DATABASE } from '../fenced.ts'
import type { MemoryCheckpointer } from '../memory-checkpointer.ts'
import type { Serde } from '../serde.ts'
import { toText } from '../text.ts'
import { checkpointOf, encodeCheckpoint, encodeWrites } from './blobs.ts'
import type { Argument } from './client.ts'
import type { Database } from './database.ts'
import type { Directory } from './directory.ts'
import { type Entry, toUtf8 } from './entries.ts'
import { loadDeltaHistory } from './history.ts'
import { listTuples } from './list-tuples.ts'
import type { Script } from './script.ts'
import { DELETE_THREAD, PUT_CHECKPOINT, PUT_WRITES } from './scripts-saver.ts'
import { type Asked, loadTuples } from './tuples.ts'

/** A `Checkpointer` with all of LangGraph's `BaseCheckpointSaver`: fit for `graph.compile({ checkpointer })`. */
export interface RedisCheckpointer extends MemoryCheckpointer {
  readonly [DATABASE]: object
  setup(): Promise<void>
  end(): Promise<void>
  withFence(partition: string, token: number): RedisCheckpointer
  /** A view that reads and writes values with another serde, such as LangGraph's, which revives LangChain objects. */
  withSerde(serde: Serde): RedisCheckpointer
}

interface CheckpointerOptions {
  readonly database: Database
  readonly directory: Directory
  readonly serde: Serde
  readonly close: () => Promise<void>
  readonly assertFence: (partition: string, token: number) => Promise<void>
  /** The lease under which a view writes. */
  readonly fence?: Fence | undefined
}

interface Fence {
  readonly partition: string
  readonly token: number
}

export function createCheckpointer(options: CheckpointerOptions): RedisCheckpointer {
  const { database, directory, serde, close, fence } = options
  const { keys, run } = database

  /** Runs a script that checks the fence first. */
  async function write(script: Script, threadId: string, args: readonly Argument[]): Promise<unknown> {
    const isInScript = fence && (!database.isCluster || fence.partition === threadId)
    // In a cluster a script can look at no partition but that of its thread.
    if (fence && !isInScript) await options.assertFence(fence.partition, fence.token)
    const answer = await run({
      script,
      keys: [...keys.thread(threadId), ...(isInScript ? [keys.partition(fence.partition).meta] : [])],
      args: [isInScript ? String(fence.token) : '', ...args],
      mutates: true,
    })
    const said = answer instanceof Uint8Array ? toUtf8(answer) : answer
    if (said === 'fenced') {
      throw new FencedError(`The lease of ${fence!.partition} is no longer held with this token.`)
    }
    return said
  }

  const threadEntry = (threadId: string, stamp = ''): Entry => ({
    set: keys.threads,
    member: `${toText(threadId)}\0${stamp}`,
  })

  async function register(threadId: string): Promise<string> {
    const tail = `.${crypto.randomUUID().slice(0, 8)}`
    return `${await directory.enter([{ ...threadEntry(threadId), tail }])}${tail}`
  }

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, asked } = askedBy(config)
    return threadId === undefined ? undefined : (await loadTuples(database, serde, threadId, [asked]))[0]
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
      const parent = parentId === undefined ? '' : checkpointOf(namespace, parentId)
      const place = [toText(namespace), checkpointOf(namespace, checkpoint.id), parent]
      const send = async (isNew: (channel: string) => boolean, latest: boolean): Promise<string[]> => {
        const { args, carried } = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
        const put = (stamp: string) =>
          write(PUT_CHECKPOINT, threadId, [latest ? '1' : '', stamp, ...place, ...args])
        let answer = await put('')
        if (answer === 'register') answer = await put(await register(threadId))
        return Array.isArray(answer) ? answer.map((at) => carried[at as number]!) : []
      }
      const isChanged = (channel: string) => Object.hasOwn(newVersions, channel)
      const ambiguous = await send(isChanged, false)
      if (ambiguous.length > 0) {
        const given = ambiguous.filter((channel) => Object.hasOwn(checkpoint.channel_values, channel))
        await send((channel) => isChanged(channel) || given.includes(channel), true)
      }
      return configOf(threadId, namespace, checkpoint.id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      if (checkpointId === undefined) throw missing('checkpoint_id')
      const checkpoint = checkpointOf(namespace, checkpointId)
      await write(PUT_WRITES, threadId, await encodeWrites(serde, checkpoint, taskId, writes))
    },
    async deleteThread(threadId) {
      const stamp = await run({ script: DELETE_THREAD, keys: keys.thread(threadId), mutates: true })
      if (stamp instanceof Uint8Array) await directory.remove([threadEntry(threadId, toUtf8(stamp))])
    },
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const { threadId, asked } = askedBy(config)
      if (threadId === undefined)
        return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
      return loadDeltaHistory(database, serde, threadId, asked, channels)
    },
    setup: () => database.setup(),
    end: close,
    withFence: (partition, token) => createCheckpointer({ ...options, fence: { partition, token } }),
    withSerde: (other) => createCheckpointer({ ...options, serde: other }),
    toJSON: () => '[redisCheckpointer]',
  }
}

function askedBy(config: CheckpointConfig): { readonly threadId: string | undefined; readonly asked: Asked } {
  const { threadId, namespace = '', checkpointId } = addressOf(config)
  return {
    threadId,
    asked: checkpointId === undefined ? `n${toText(namespace)}` : `c${checkpointOf(namespace, checkpointId)}`,
  }
}
