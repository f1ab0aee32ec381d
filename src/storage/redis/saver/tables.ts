import type { CheckpointPlace, SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence, ListedCheckpoint } from '../../checkpointer/durable-saver.ts'
import { type CheckpointScope, placesInScope, type Sorted } from '../../checkpointer/list-tuples.ts'
import type { CheckpointToStore } from '../../checkpointer/stored-checkpoint.ts'
import { FencedError } from '../../errors.ts'
import { checkFence, fencedError } from '../../store/commit.ts'
import type { Store } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Argument, Script } from '../connection.ts'
import type { Database } from '../database.ts'
import type { Directory } from '../store/directory.ts'
import { type Entry, inGroups, loadFields, toUtf8 } from '../store/entries.ts'
import {
  type Ancestors,
  checkpointOf,
  type Loaded,
  putArguments,
  readAncestors,
  readBlob,
  readBody,
  readLoaded,
  writesArguments,
} from './checkpoints.ts'
import {
  ANCESTORS,
  DELETE_THREAD,
  KEEP_ONLY,
  LIST_ORDER,
  LOAD,
  PUT_CHECKPOINT,
  PUT_WRITES,
  SORT_KEY,
} from './scripts.ts'

const threadOf = ({ threadId }: { readonly threadId: string }): string => threadId

/** What a call of the saver uses. */
interface Parts {
  readonly database: Database
  readonly directory: Directory
  readonly inspect: Store['inspect']
}

export function createTables(
  database: Database,
  directory: Directory,
  inspect: Store['inspect'],
): CheckpointTables {
  const { keys, run } = database
  const parts: Parts = { database, directory, inspect }

  return {
    async load(addresses) {
      const found = await inGroups(addresses, threadOf, async (threadId, group) => {
        const loaded = await run({ script: LOAD, keys: keys.thread(threadId), args: group.map(askedBy) })
        return readLoaded(threadId, loaded as Loaded)
      })
      return found.filter((stored) => stored !== undefined)
    },
    pages: (scope, size, withMetadata) => pagesOf(database, scope, size, withMetadata),
    put: (fence, checkpoint, latest) => put(parts, fence, checkpoint, latest),
    async putWrites(fence, writes) {
      await write(parts, PUT_WRITES, fence, writes.threadId, writesArguments(writes))
    },
    async deleteThread(fence, threadId) {
      const stamp = await write(parts, DELETE_THREAD, fence, threadId, [])
      if (typeof stamp === 'string') await directory.remove([threadEntry(database, threadId, stamp)])
    },
    async keepOnly(fence, threadId, remainders) {
      const args = remainders.flatMap(({ namespace, newest, checkpointIds }) => [
        ...[toText(namespace), checkpointOf(namespace, newest), String(checkpointIds.length)],
        ...checkpointIds.map((id) => checkpointOf(namespace, id)),
      ])
      await write(parts, KEEP_ONLY, fence, threadId, args)
    },
    async line(at, channels, most) {
      const args = [askedBy(at), String(most), ...channels.map(toText)]
      const line = (await run({ script: ANCESTORS, keys: keys.thread(at.threadId), args })) as Ancestors
      return readAncestors(line).map(({ checkpointId, parentId, numbers, writes }) => ({
        checkpointId,
        parentId,
        writes,
        async value(channel) {
          const number = numbers.get(channel) ?? 0
          const [blob] = number === 0 ? [] : await load(database, at.threadId, [`v${number}`])
          return blob ? readBlob(blob) : undefined
        },
      }))
    },
  }
}

/** Runs a script that checks the fence first. */
async function write(
  { database, inspect }: Parts,
  script: Script,
  fence: Fence | undefined,
  threadId: string,
  args: readonly Argument[],
): Promise<unknown> {
  const { keys, run } = database
  const isInScript = fence && (!database.isCluster || fence.partition === threadId)
  // In a cluster, a script can only access its own thread's partition.
  if (fence && !isInScript) {
    const { lease, now } = await inspect(fence.partition)
    checkFence(fence.partition, fence.token, lease, now)
  }
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

const threadEntry = ({ keys }: Database, threadId: string, stamp = ''): Entry => ({
  set: keys.threads,
  member: `${toText(threadId)}\0${stamp}`,
})

async function register({ database, directory }: Parts, threadId: string): Promise<string> {
  const tail = `.${crypto.randomUUID().slice(0, 8)}`
  const { now } = await directory.enter([{ ...threadEntry(database, threadId), tail }])
  return `${now}${tail}`
}

const load = async (database: Database, threadId: string, fields: readonly string[]) =>
  (await loadFields(database, database.keys.thread(threadId)[0], fields)).found

async function put(
  parts: Parts,
  fence: Fence | undefined,
  checkpoint: CheckpointToStore,
  latest: boolean,
): Promise<readonly string[]> {
  const { threadId } = checkpoint
  const args = putArguments(checkpoint)
  const putAs = (stamp: string) =>
    write(parts, PUT_CHECKPOINT, fence, threadId, [latest ? '1' : '', stamp, ...args])
  let answer = await putAs('')
  if (answer === 'register') {
    const stamp = await register(parts, threadId)
    const leave = () => parts.directory.leave([threadEntry(parts.database, threadId, stamp)])
    try {
      answer = await putAs(stamp)
    } catch (error) {
      // If it is unknown whether the put was done, the entry stays.
      if (error instanceof FencedError) leave()
      throw error
    }
    if (answer !== 0) leave()
  }
  return Array.isArray(answer) ? answer.map((at) => checkpoint.carried[at as number]!.channel) : []
}

async function* pagesOf(
  database: Database,
  scope: CheckpointScope,
  size: number,
  withMetadata: boolean,
): AsyncGenerator<readonly ListedCheckpoint[]> {
  for await (const page of placesIn(database, scope, size)) {
    if (!withMetadata) {
      yield page.map((place) => ({ ...place, metadata: undefined }))
      continue
    }
    const bodies = await inGroups(page, threadOf, (threadId, group) =>
      load(
        database,
        threadId,
        group.map(({ namespace, checkpointId }) => `b${checkpointOf(namespace, checkpointId)}`),
      ),
    )
    // A checkpoint may have been deleted in the meantime.
    yield page.flatMap((place, i) =>
      bodies[i] ? [{ ...place, metadata: readBody(bodies[i]).metadata }] : [],
    )
  }
}

/** `c` and a checkpoint, or `n` and a namespace for its newest checkpoint. */
function askedBy({ namespace, checkpointId }: SavedAt): string {
  return checkpointId === undefined ? `n${toText(namespace)}` : `c${checkpointOf(namespace, checkpointId)}`
}

/** Without a thread or namespace, this reads the ids of all of them. */
async function* placesIn(
  database: Database,
  scope: CheckpointScope,
  size: number,
): AsyncGenerator<readonly CheckpointPlace[]> {
  const { threadId, namespace, checkpointId } = scope
  if (threadId !== undefined && namespace !== undefined && checkpointId === undefined) {
    yield* placesInNamespace(database, threadId, namespace, scope.before, size)
    return
  }
  const places: (CheckpointPlace & Sorted)[] = []
  for (const thread of threadId === undefined ? await allThreads(database) : [threadId]) {
    const [, order] = database.keys.thread(thread)
    for (const member of await membersOf(database, order, '(d', '[c', -1)) {
      places.push({ threadId: thread, ...readPlace(member) })
    }
  }
  const found = placesInScope(scope, places)
  for (let at = 0; at < found.length; at += size) yield found.slice(at, at + size)
}

/** Page by page, so that a long history is never completely in memory. */
async function* placesInNamespace(
  database: Database,
  threadId: string,
  namespace: string,
  before: string | undefined,
  size: number,
): AsyncGenerator<readonly CheckpointPlace[]> {
  const [saved, order] = database.keys.thread(threadId)
  const first = `c${toText(namespace)}`
  let from = `(${first}\x01`
  if (before !== undefined) {
    const checkpoint = checkpointOf(namespace, before)
    const key = await database.run({ script: SORT_KEY, keys: [saved], args: [checkpoint] })
    from = key instanceof Uint8Array ? `(${first}\0${toUtf8(key)}\0${toText(before)}` : `(c${checkpoint}`
  }
  for (;;) {
    const members = await membersOf(database, order, from, `[${first}\0`, size)
    yield members.map((member) => ({ threadId, ...readPlace(member) }))
    if (members.length < size) return
    from = `(${members.at(-1)}`
  }
}

function readPlace(member: string): Omit<CheckpointPlace, 'threadId'> & Sorted {
  const [namespace, key, id] = member.slice(1).split('\0') as [string, string, string | undefined]
  return {
    namespace: fromText(namespace),
    checkpointId: fromText(id ?? key),
    sortKey: id === undefined ? undefined : `${key}\0${id}`,
  }
}

/** Members of a set in descending order, at most `count`, or all if it is -1. */
async function membersOf({ run }: Database, set: string, from: string, to: string, count: number) {
  const members = await run({ script: LIST_ORDER, keys: [set], args: [from, to, String(count)] })
  return (members as Uint8Array[]).map(toUtf8)
}

/** May include a thread without a checkpoint, after a put that failed. */
async function allThreads(database: Database): Promise<Iterable<string>> {
  const members = await membersOf(database, database.keys.threads, '+', '-', -1)
  return new Set(members.map((member) => fromText(member.split('\0')[0]!)))
}
