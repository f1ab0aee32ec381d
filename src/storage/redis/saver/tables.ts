import type { Fence, SavedAt, SaverTables } from '../../checkpointer/saver.ts'
import { FencedError } from '../../errors.ts'
import { toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Argument } from '../line.ts'
import type { Script } from '../script.ts'
import type { Directory } from '../store/directory.ts'
import { type Entry, toUtf8 } from '../store/entries.ts'
import { checkpointOf, encodeCheckpoint, encodeWrites } from './blobs.ts'
import { ancestorsOf } from './history.ts'
import { listTuples } from './list-tuples.ts'
import { DELETE_THREAD, PUT_CHECKPOINT, PUT_WRITES } from './scripts-saver.ts'
import { type Asked, loadTuples } from './tuples.ts'

export function createTables(
  database: Database,
  directory: Directory,
  assertFence: (partition: string, token: number) => Promise<void>,
): SaverTables {
  const { keys, run } = database

  /** Runs a script that checks the fence first. */
  async function write(
    script: Script,
    fence: Fence | undefined,
    threadId: string,
    args: readonly Argument[],
  ): Promise<unknown> {
    const isInScript = fence && (!database.isCluster || fence.partition === threadId)
    // In a cluster a script can look at no partition but that of its thread.
    if (fence && !isInScript) await assertFence(fence.partition, fence.token)
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

  return {
    async load(serde, at) {
      return (await loadTuples(database, serde, at.threadId, [askedBy(at)]))[0]
    },
    list: (serde, config, options) => listTuples(database, serde, config, options),
    async put(serde, fence, { threadId, namespace, parentId, checkpoint, metadata, isNew, latest }) {
      const parent = parentId === undefined ? '' : checkpointOf(namespace, parentId)
      const place = [toText(namespace), checkpointOf(namespace, checkpoint.id), parent]
      const { args, carried } = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
      const put = (stamp: string) =>
        write(PUT_CHECKPOINT, fence, threadId, [latest ? '1' : '', stamp, ...place, ...args])
      let answer = await put('')
      if (answer === 'register') answer = await put(await register(threadId))
      return Array.isArray(answer) ? answer.map((at) => carried[at as number]!) : []
    },
    async putWrites(serde, fence, { threadId, namespace, checkpointId, taskId, writes }) {
      const checkpoint = checkpointOf(namespace, checkpointId)
      await write(PUT_WRITES, fence, threadId, await encodeWrites(serde, checkpoint, taskId, writes))
    },
    async deleteThread(threadId) {
      const stamp = await run({ script: DELETE_THREAD, keys: keys.thread(threadId), mutates: true })
      if (stamp instanceof Uint8Array) await directory.remove([threadEntry(threadId, toUtf8(stamp))])
    },
    ancestors: (serde, at, channels) => ancestorsOf(database, serde, at.threadId, askedBy(at), channels),
  }
}

function askedBy({ namespace, checkpointId }: SavedAt): Asked {
  return checkpointId === undefined ? `n${toText(namespace)}` : `c${checkpointOf(namespace, checkpointId)}`
}
