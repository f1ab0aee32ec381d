import type { ChannelVersion, Checkpoint, CheckpointTuple } from '../checkpointer/checkpointer.ts'
import { type SavedAt, writeIndexOf } from '../checkpointer/config.ts'
import { copy, equalsCopy } from '../checkpointer/copy.ts'
import type { PendingWrite } from '../checkpointer/delta-history.ts'
import {
  metadataCheck,
  newestFirst,
  placesInScope,
  type Sorted,
  scopeOf,
  sortKeyBehind,
} from '../checkpointer/list-tuples.ts'
import type { Remainder } from '../checkpointer/newest-checkpoint.ts'
import {
  type CheckpointSaver,
  type CheckpointTuples,
  createSaver,
  type NewCheckpoint,
} from '../checkpointer/saver.ts'
import { jsonSerde } from '../checkpointer/serde.ts'
import { asImmutable, isImmutable } from '../checkpointer/shared.ts'
import { inOrder, toTuple } from '../checkpointer/stored-checkpoint.ts'

export type MemoryCheckpointer = CheckpointSaver

/**
 * A saver in this process's memory. It stores copies (see `copy`), one per channel version, which share
 * unchanged parts. LangChain messages are read as messages.
 */
export function memoryCheckpointer(): MemoryCheckpointer {
  return memoryCheckpointerIn(new Map())
}

export type MemoryThreads = Map<string, Map<string, Namespace>>

export function memoryCheckpointerIn(threads: MemoryThreads): MemoryCheckpointer {
  const find = ({ threadId, namespace, checkpointId }: SavedAt): Kept | undefined => {
    const { kept, newest } = namespaceAt(threads, threadId, namespace)
    return checkpointId === undefined ? newest : kept.get(checkpointId)
  }
  const tuples: CheckpointTuples = {
    async load(at, isShared) {
      const kept = find(at)
      return kept && tupleOf(kept, isShared)
    },
    newest: async (threadId, namespace) => namespaceAt(threads, threadId, namespace).newest?.checkpointId,
    list: (config, options) => list(threads, config, options),
    put: async (given) => put(threads, given),
    putWrites: async (given) => putWrites(threads, given),
    async deleteThread(threadId) {
      threads.delete(threadId)
    },
    async *places(threadId) {
      const namespaces = [...(threads.get(threadId)?.values() ?? [])]
      yield* namespaces.flatMap(({ kept }) => [...kept.values()]).sort(newestFirst)
    },
    async keepOnly(threadId, remainders) {
      for (const remainder of remainders)
        keepOnly(namespaceAt(threads, threadId, remainder.namespace), remainder)
    },
    async *ancestors(at, channels) {
      for (let kept = parentOf(find(at)); kept; kept = parentOf(kept)) {
        const { home, checkpointId, cells }: Kept = kept
        yield {
          checkpointId,
          writes: writesOf(home, checkpointId, (channel) => channels.includes(channel)),
          value: async (channel) => copy(cells.get(channel)?.value),
        }
      }
    },
  }
  return createSaver('memoryCheckpointer', jsonSerde, tuples)
}

/** A namespace is stored when `add` is called, so that a value that cannot be copied leaves nothing behind. */
function namespaceAt(threads: MemoryThreads, threadId: string, name: string): Namespace {
  return threads.get(threadId)?.get(name) ?? { kept: new Map(), writes: new Map(), newest: undefined }
}

function add(threads: MemoryThreads, threadId: string, name: string, namespace: Namespace): void {
  const thread = threads.get(threadId) ?? new Map<string, Namespace>()
  threads.set(threadId, thread.set(name, namespace))
}

async function* list(
  threads: MemoryThreads,
  ...[config, { limit = Number.POSITIVE_INFINITY, before, filter = {} } = {}]: Parameters<
    CheckpointTuples['list']
  >
): AsyncGenerator<CheckpointTuple> {
  const scope = scopeOf(config, before)
  const { threadId } = scope
  const inThreads = threadId === undefined ? [...threads.values()] : [threads.get(threadId)]
  const found = inThreads
    .flatMap((thread) => [...(thread?.values() ?? [])])
    .flatMap(({ kept }) => [...kept.values()])
  const matches = metadataCheck(filter)
  let left = limit
  for (const kept of placesInScope(scope, found)) {
    if (left <= 0) return
    if (!matches(kept.metadata)) continue
    left -= 1
    yield tupleOf(kept, false)
  }
}

function put(threads: MemoryThreads, given: NewCheckpoint): void {
  const { threadId, namespace: name, checkpoint } = given
  const namespace = namespaceAt(threads, threadId, name)
  const { id } = checkpoint
  const kept = keep(namespace, given)
  if (!namespace.kept.has(id) || namespace.newest?.checkpointId === id) namespace.newest = kept
  namespace.kept.set(id, kept)
  add(threads, threadId, name, namespace)
}

function putWrites(
  threads: MemoryThreads,
  ...[{ threadId, namespace: name, checkpointId, taskId, writes }]: Parameters<CheckpointTuples['putWrites']>
): void {
  const copies = writes.map(([channel, value], position) => {
    return { taskId, place: writeIndexOf(channel, position), channel, value: copy(value) }
  })
  const namespace = namespaceAt(threads, threadId, name)
  const kept = namespace.writes.get(checkpointId) ?? new Map()
  namespace.writes.set(checkpointId, kept)
  for (const write of copies) {
    const key = `${write.place} ${taskId}`
    if (write.place < 0 || !kept.has(key)) kept.set(key, write)
  }
  add(threads, threadId, name, namespace)
}

function keepOnly(namespace: Namespace, { newest, checkpointIds }: Remainder): void {
  if (namespace.newest?.checkpointId !== newest) return
  const { kept, writes } = namespace
  // Writes may arrive before their checkpoint.
  for (const id of writes.keys())
    if ((kept.has(id) || id <= newest) && !checkpointIds.includes(id)) writes.delete(id)
  for (const id of kept.keys()) if (!checkpointIds.includes(id)) kept.delete(id)
}

function parentOf(kept: Kept | undefined): Kept | undefined {
  return kept?.home.kept.get(kept.parentId ?? '')
}

/** One checkpoint. Its channel values are cells, which it shares with earlier checkpoints. */
interface Kept extends Omit<NewCheckpoint, 'checkpoint' | 'newVersions'>, Sorted {
  readonly checkpoint: Omit<Checkpoint, 'channel_values'>
  readonly cells: ReadonlyMap<string, Cell>
  readonly home: Namespace
}

interface Cell {
  readonly value: unknown
}

interface KeptWrite {
  readonly taskId: string
  readonly place: number
  readonly channel: string
  readonly value: unknown
}

/** The contents of one namespace of a thread. */
interface Namespace {
  readonly kept: Map<string, Kept>
  readonly writes: Map<string, Map<string, KeptWrite>>
  newest: Kept | undefined
}

/** Copies new values, and reuses an older checkpoint's cell for every channel with an unchanged version. */
function keep(
  home: Namespace,
  { threadId, namespace, parentId, checkpoint, metadata, newVersions }: NewCheckpoint,
): Kept {
  const { channel_values: values, ...rest } = checkpoint
  const parent = home.kept.get(parentId ?? '')
  const cells = new Map<string, Cell>()
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const given = Object.hasOwn(values, channel) ? { value: values[channel] } : undefined
    const before = parent?.cells.get(channel)
    let cell: Cell | undefined
    if (Object.hasOwn(newVersions, channel)) cell = given && { value: keptValue(given.value, before?.value) }
    else if (parent?.checkpoint.channel_versions[channel] === version) cell = before
    else cell = findVersion(home, channel, version, given)
    if (cell) cells.set(channel, cell)
  }
  return {
    threadId,
    namespace,
    checkpointId: checkpoint.id,
    sortKey: (home.kept.get(checkpoint.id) ?? { sortKey: sortKeyBehind(home.newest, checkpoint.id) }).sortKey,
    parentId,
    checkpoint: copy(rest, parent?.checkpoint),
    cells,
    metadata: copy(metadata, parent?.metadata),
    home,
  }
}

/** A copy, or the value itself if it is immutable. Parts that equal the previous value are shared with it. */
function keptValue(value: unknown, before: unknown): unknown {
  if (!isImmutable(value)) return copy(value, before)
  // A list that was read as a copy must not be stored twice. One that was read without a copy starts with the
  // same item.
  if (!Array.isArray(value) || !isImmutable(before) || !Array.isArray(before) || value[0] === before[0])
    return value
  const items = value.map((item, place) => (equalsCopy(item, before[place]) ? before[place] : item))
  return asImmutable(Object.freeze(items))
}

/**
 * Branches of a thread may give different values the same version. Picks the equal value, otherwise the
 * latest.
 */
function findVersion(
  { kept }: Namespace,
  channel: string,
  version: ChannelVersion,
  given: Cell | undefined,
): Cell | undefined {
  const cells = [...kept.values()]
    .filter(({ checkpoint }) => checkpoint.channel_versions[channel] === version)
    .map(({ cells }) => cells.get(channel))
  return cells.findLast((cell) => given && cell && equalsCopy(given.value, cell.value)) ?? cells.at(-1)
}

/** `isShared`: immutable values are not copied. */
function tupleOf(kept: Kept, isShared: boolean): Promise<CheckpointTuple> {
  const values = [...kept.cells].map(([channel, { value }]) => {
    return [channel, isShared && isImmutable(value) ? value : copy(value)] as const
  })
  return toTuple(
    kept,
    {
      checkpoint: { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) },
      metadata: copy(kept.metadata),
      pendingWrites: writesOf(kept.home, kept.checkpointId),
    },
    (parentId) => writesOf(kept.home, parentId),
  )
}

function writesOf(
  { writes }: Namespace,
  checkpointId: string,
  isWanted: (channel: string) => boolean = () => true,
): PendingWrite[] {
  const wanted = [...(writes.get(checkpointId)?.values() ?? [])].filter(({ channel }) => isWanted(channel))
  return inOrder(wanted).map(({ taskId, channel, value }) => [taskId, channel, copy(value)])
}
