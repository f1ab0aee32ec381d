import type { CheckpointPlace } from '../../checkpointer/config.ts'
import { type CheckpointScope, placesInScope, type Sorted } from '../../checkpointer/list-tuples.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { toUtf8 } from '../store/entries.ts'
import { checkpointOf } from './checkpoints.ts'
import { LIST_ORDER, SORT_KEY } from './scripts.ts'

/** Without a thread or namespace, this reads the ids of all of them. */
export async function* placesIn(
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
