import type { SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence } from '../../checkpointer/durable-saver.ts'
import { FencedError } from '../../errors.ts'
import { fencedError } from '../../store/commit.ts'
import { toText } from '../../text.ts'
import type { Argument } from '../connection.ts'
import type { Database } from '../database.ts'
import type { Script } from '../script.ts'
import type { Directory } from '../store/directory.ts'
import { type Entry, toUtf8 } from '../store/entries.ts'
import { DOCUMENTS } from '../store/scripts-store.ts'
import {
  checkpointOf,
  type FlatCells,
  type Loaded,
  putArguments,
  readBlob,
  readBody,
  readCells,
  readCheckpointOf,
  readLoaded,
  readWrites,
  writesArguments,
} from './checkpoints.ts'
import { placesIn } from './pages.ts'
import { KEEP_ONLY } from './script-keep-only.ts'
import { ANCESTORS, DELETE_THREAD, LOAD, LOAD_WRITES, PUT_CHECKPOINT, PUT_WRITES } from './scripts-saver.ts'

/** Ancestors that are read at once. */
const PAGE = 100

export function createTables(
  database: Database,
  directory: Directory,
  assertFence: (partition: string, token: number) => Promise<void>,
): CheckpointTables {
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
    if (said === 'fenced') throw fencedError(fence!.partition)
    return said
  }

  const threadEntry = (threadId: string, stamp = ''): Entry => ({
    set: keys.threads,
    member: `${toText(threadId)}\0${stamp}`,
  })

  async function register(threadId: string): Promise<string> {
    const tail = `.${crypto.randomUUID().slice(0, 8)}`
    const { now } = await directory.enter([{ ...threadEntry(threadId), tail }])
    return `${now}${tail}`
  }

  /** Fields of a stored thread, null where absent. */
  async function loadFields(threadId: string, fields: readonly string[]) {
    const [saved] = keys.thread(threadId)
    const [, ...found] = (await run({ script: DOCUMENTS, keys: [saved], args: fields })) as [
      number,
      ...(Uint8Array | null)[],
    ]
    return found
  }

  return {
    async load(addresses) {
      const found = await inThreads(addresses, async (threadId, group) => {
        const args = group.map(askedBy)
        return readLoaded(
          threadId,
          (await run({ script: LOAD, keys: keys.thread(threadId), args })) as Loaded,
        )
      })
      return found.filter((stored) => stored !== undefined)
    },
    async loadWrites({ threadId, namespace, checkpointId }, channel) {
      const args = [checkpointOf(namespace, checkpointId)]
      const flat = await run({ script: LOAD_WRITES, keys: keys.thread(threadId), args })
      return readWrites(flat as Uint8Array[]).filter((write) => write.channel === channel)
    },
    async *pages(scope, size, withMetadata) {
      for await (const page of placesIn(database, scope, size)) {
        if (!withMetadata) {
          yield page.map((place) => ({ ...place, metadata: undefined }))
          continue
        }
        const bodies = await inThreads(page, (threadId, group) =>
          loadFields(
            threadId,
            group.map(({ namespace, checkpointId }) => `b${checkpointOf(namespace, checkpointId)}`),
          ),
        )
        // One may have been deleted since.
        yield page.flatMap((place, i) =>
          bodies[i] ? [{ ...place, metadata: readBody(bodies[i]).metadata }] : [],
        )
      }
    },
    async put(fence, checkpoint, latest) {
      const args = putArguments(checkpoint)
      const put = (stamp: string) =>
        write(PUT_CHECKPOINT, fence, checkpoint.threadId, [latest ? '1' : '', stamp, ...args])
      let answer = await put('')
      if (answer === 'register') {
        const stamp = await register(checkpoint.threadId)
        const leave = () => directory.leave([threadEntry(checkpoint.threadId, stamp)])
        try {
          answer = await put(stamp)
        } catch (error) {
          // Where it is not known whether the put was done, the entry stays.
          if (error instanceof FencedError) leave()
          throw error
        }
        if (answer !== 0) leave()
      }
      return Array.isArray(answer) ? answer.map((at) => checkpoint.carried[at as number]!.channel) : []
    },
    async putWrites(fence, writes) {
      await write(PUT_WRITES, fence, writes.threadId, writesArguments(writes))
    },
    async deleteThread(fence, threadId) {
      const stamp = await write(DELETE_THREAD, fence, threadId, [])
      if (typeof stamp === 'string') await directory.remove([threadEntry(threadId, stamp)])
    },
    async keepOnly(fence, threadId, remainders) {
      const args = remainders.flatMap(({ namespace, newest, checkpointIds }) => [
        ...[toText(namespace), checkpointOf(namespace, newest), String(checkpointIds.length)],
        ...checkpointIds.map((id) => checkpointOf(namespace, id)),
      ])
      await write(KEEP_ONLY, fence, threadId, args)
    },
    async *ancestors(at, channels) {
      const { threadId } = at
      let from: string | undefined = askedBy(at)
      let isItself = true
      while (from !== undefined) {
        const args = [from, String(PAGE), ...channels.map(toText)]
        const page = (await run({ script: ANCESTORS, keys: keys.thread(threadId), args })) as Ancestors
        const parent: string | undefined =
          page.length === PAGE ? readCells(page.at(-1)![1]).parent : undefined
        from = parent === undefined ? undefined : `c${parent}`
        for (const [checkpoint, cells, writes] of page.slice(isItself ? 1 : 0)) {
          const { numbers } = readCells(cells)
          yield {
            checkpointId: readCheckpointOf(toUtf8(checkpoint))[1],
            writes: readWrites(writes),
            async value(channel) {
              const number = numbers.get(channel) ?? 0
              const [blob] = number === 0 ? [] : await loadFields(threadId, [`v${number}`])
              return blob ? readBlob(blob) : undefined
            },
          }
        }
        isItself = false
      }
    },
  }
}

type Ancestors = readonly (readonly [
  checkpoint: Uint8Array,
  cells: FlatCells,
  writes: readonly Uint8Array[],
])[]

/** `c` and a checkpoint, or `n` and a namespace for the newest of it. */
function askedBy({ namespace, checkpointId }: SavedAt): string {
  return checkpointId === undefined ? `n${toText(namespace)}` : `c${checkpointOf(namespace, checkpointId)}`
}

/** `work` gives one answer for each item of a thread; together they come in the order of the items. */
async function inThreads<Item extends { readonly threadId: string }, Answer>(
  items: readonly Item[],
  work: (threadId: string, group: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(item.threadId)
    if (group) group.push(item)
    else groups.set(item.threadId, [item])
  }
  const answers = new Map<Item, Answer>()
  await Promise.all(
    [...groups].map(async ([threadId, group]) => {
      for (const [i, answer] of (await work(threadId, group)).entries()) answers.set(group[i]!, answer)
    }),
  )
  return items.map((item) => answers.get(item)!)
}
