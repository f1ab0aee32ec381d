import { addressOf, configOf, highestVersion, missing, nextVersion, placeOf } from './checkpoint-config.ts'
import type {
  ChannelVersion,
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { copy, equalsCopy } from './copy.ts'
import { jsonSerde, type Serde } from './serde.ts'

/** A `Checkpointer` with all of LangGraph's `BaseCheckpointSaver`: fit for `graph.compile({ checkpointer })`. */
export interface MemoryCheckpointer extends Checkpointer {
  readonly serde: Serde
  get(config: CheckpointConfig): Promise<Checkpoint | undefined>
  getNextVersion(current: number | undefined): number
  getDeltaChannelHistory(options: {
    config: CheckpointConfig
    channels: string[]
  }): Promise<Record<string, DeltaHistory>>
  toJSON(): string
}

/** What one channel received along the ancestors of a checkpoint, oldest first, on top of `seed` where one was stored. */
export interface DeltaHistory {
  writes: PendingWrite[]
  seed?: unknown
}

type PendingWrite = [taskId: string, channel: string, value: unknown]

/** One checkpoint. Its channel values are cells, which it shares with the checkpoints before it. */
interface Kept {
  readonly checkpoint: Omit<Checkpoint, 'channel_values'>
  readonly cells: ReadonlyMap<string, Cell>
  readonly metadata: CheckpointMetadata
  readonly parentId: string | undefined
}

interface Cell {
  readonly value: unknown
}

interface Namespace {
  readonly kept: Map<string, Kept>
  /** By checkpoint, task, then place. */
  readonly writes: Map<string, Map<string, Map<number, PendingWrite>>>
  newest: string | undefined
}

const TASKS = '__pregel_tasks'

/**
 * A saver in this process's memory. It keeps copies (see `copy`), one per channel version, that share what did not change: a
 * superstep costs its changes. LangChain messages come back as messages.
 */
export function memoryCheckpointer(): MemoryCheckpointer {
  const threads = new Map<string, Map<string, Namespace>>()

  function find(threadId: string | undefined, namespace: string): Namespace | undefined {
    return threadId === undefined ? undefined : threads.get(threadId)?.get(namespace)
  }

  function open(threadId: string, name: string): Namespace {
    let namespaces = threads.get(threadId)
    if (!namespaces) threads.set(threadId, (namespaces = new Map()))
    let namespace = namespaces.get(name)
    if (!namespace)
      namespaces.set(name, (namespace = { kept: new Map(), writes: new Map(), newest: undefined }))
    return namespace
  }

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace: name = '', checkpointId } = addressOf(config)
    const namespace = find(threadId, name)
    const id = checkpointId ?? namespace?.newest
    const kept = id === undefined ? undefined : namespace?.kept.get(id)
    return kept && toTuple(threadId!, name, namespace!, kept)
  }

  return {
    serde: jsonSerde,
    getTuple,
    async get(config) {
      return (await getTuple(config))?.checkpoint
    },
    async *list(config, options = {}) {
      yield* listTuples(threads, config, options)
    },
    async put(config, checkpoint, metadata, newVersions) {
      const { threadId, namespace: name = '', checkpointId: parentId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      const namespace = find(threadId, name)
      const kept = keep(namespace, parentId, checkpoint, metadata, newVersions)
      const { id } = checkpoint
      const opened = namespace ?? open(threadId, name)
      opened.kept.set(id, kept)
      if (opened.newest === undefined || id > opened.newest) opened.newest = id
      return configOf(threadId, name, id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace: name = '', checkpointId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      if (checkpointId === undefined) throw missing('checkpoint_id')
      const copies = writes.map(([channel, value]): PendingWrite => [taskId, channel, copy(value)])
      const byTask = at(
        open(threadId, name).writes,
        checkpointId,
        () => new Map<string, Map<number, PendingWrite>>(),
      )
      const byPlace = at(byTask, taskId, () => new Map<number, PendingWrite>())
      for (const [position, write] of copies.entries()) {
        const place = placeOf(write[1], position)
        if (place < 0 || !byPlace.has(place)) byPlace.set(place, write)
      }
    },
    async deleteThread(threadId) {
      threads.delete(threadId)
    },
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const { threadId, namespace: name = '', checkpointId } = addressOf(config)
      const namespace = find(threadId, name)
      return namespace
        ? deltaHistory(namespace, checkpointId ?? namespace.newest, channels)
        : emptyHistory(channels)
    },
    toJSON: () => '[memoryCheckpointer]',
  }
}

/** Copies what is new; takes the cell of an older checkpoint for every channel that kept its version. */
function keep(
  namespace: Namespace | undefined,
  parentId: string | undefined,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: Record<string, ChannelVersion>,
): Kept {
  const { channel_values: values, ...rest } = checkpoint
  const parent = parentId === undefined ? undefined : namespace?.kept.get(parentId)
  const cells = new Map<string, Cell>()
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const given = Object.hasOwn(values, channel)
    if (Object.hasOwn(newVersions, channel)) {
      if (given) cells.set(channel, { value: copy(values[channel], parent?.cells.get(channel)?.value) })
      continue
    }
    const source =
      parent && hasVersion(parent, channel, version)
        ? parent
        : findVersion(namespace, channel, version, given ? { value: values[channel] } : undefined)
    const cell = source?.cells.get(channel)
    if (cell) cells.set(channel, cell)
  }
  return {
    checkpoint: copy(rest, parent?.checkpoint),
    cells,
    metadata: copy(metadata, parent?.metadata),
    parentId,
  }
}

function hasVersion({ checkpoint }: Kept, channel: string, version: ChannelVersion): boolean {
  return (
    Object.hasOwn(checkpoint.channel_versions, channel) && checkpoint.channel_versions[channel] === version
  )
}

/** Two branches of a thread may number different values alike: the one that equals what was given is meant, else the latest. */
function findVersion(
  namespace: Namespace | undefined,
  channel: string,
  version: ChannelVersion,
  given: Cell | undefined,
): Kept | undefined {
  const candidates = [...(namespace?.kept.values() ?? [])].filter((kept) =>
    hasVersion(kept, channel, version),
  )
  const equal = candidates.findLast((kept) => {
    const cell = kept.cells.get(channel)
    return given && cell && equalsCopy(given.value, cell.value)
  })
  return equal ?? candidates.at(-1)
}

function toTuple(threadId: string, name: string, namespace: Namespace, kept: Kept): CheckpointTuple {
  const { parentId } = kept
  const values = [...kept.cells].map(([channel, { value }]) => [channel, copy(value)] as const)
  const checkpoint: Checkpoint = { ...copy(kept.checkpoint), channel_values: Object.fromEntries(values) }
  if (checkpoint.v < 4 && parentId !== undefined) addPendingSends(checkpoint, writesOf(namespace, parentId))
  return {
    config: configOf(threadId, name, checkpoint.id),
    checkpoint,
    metadata: copy(kept.metadata),
    pendingWrites: writesOf(namespace, checkpoint.id).map((write) => copy(write)),
    ...(parentId !== undefined && { parentConfig: configOf(threadId, name, parentId) }),
  }
}

/** Checkpoints before format 4 kept the sends of a step with its parent's writes. */
function addPendingSends(checkpoint: Checkpoint, writes: readonly PendingWrite[]): void {
  const versions = Object.values(checkpoint.channel_versions)
  checkpoint.channel_values[TASKS] = writes
    .filter((write) => write[1] === TASKS)
    .map((write) => copy(write[2]))
  checkpoint.channel_versions[TASKS] = highestVersion(versions) ?? nextVersion(undefined)
}

/** By task, then place. Not copied. */
function writesOf(namespace: Namespace, checkpointId: string): PendingWrite[] {
  const byTask = [...(namespace.writes.get(checkpointId) ?? [])].sort(byKey)
  return byTask.flatMap(([, byPlace]) => [...byPlace].sort(([a], [b]) => a - b).map(([, write]) => write))
}

function* listTuples(
  threads: ReadonlyMap<string, ReadonlyMap<string, Namespace>>,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions,
): Generator<CheckpointTuple> {
  const { threadId, namespace: wanted, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  const rows: [id: string, threadId: string, name: string, namespace: Namespace][] = []
  for (const thread of threadId ? [threadId] : threads.keys()) {
    for (const [name, namespace] of threads.get(thread) ?? []) {
      if (wanted !== undefined && name !== wanted) continue
      for (const id of namespace.kept.keys()) {
        if (checkpointId !== undefined && id !== checkpointId) continue
        if (end === undefined || id < end) rows.push([id, thread, name, namespace])
      }
    }
  }
  rows.sort(byKey).reverse()
  let left = limit
  for (const [id, thread, name, namespace] of rows) {
    if (left <= 0) return
    // Deleted by the caller between two steps of this generator.
    const kept = namespace.kept.get(id)
    if (!kept || !matches(kept.metadata, filter)) continue
    left -= 1
    yield toTuple(thread, name, namespace, kept)
  }
}

function matches(metadata: CheckpointMetadata, filter: Record<string, unknown>): boolean {
  const fields = metadata as unknown as Record<string, unknown>
  return Object.entries(filter).every(
    ([key, value]) => Object.hasOwn(fields, key) && equalsCopy(value, fields[key]),
  )
}

/**
 * Walks the ancestors of a checkpoint once for all channels. A channel's walk ends at the nearest ancestor that stored a value,
 * its seed; the writes on that ancestor still count, for they made its child.
 */
function deltaHistory(
  namespace: Namespace,
  id: string | undefined,
  channels: string[],
): Record<string, DeltaHistory> {
  const found = new Map<string, DeltaHistory>(channels.map((channel) => [channel, { writes: [] }]))
  const open = new Set(channels)
  let at = namespace.kept.get(id ?? '')?.parentId
  while (at !== undefined && open.size > 0) {
    const kept = namespace.kept.get(at)
    if (!kept) break
    for (const write of writesOf(namespace, at).reverse()) {
      if (open.has(write[1])) found.get(write[1])!.writes.push(copy(write))
    }
    for (const channel of open) {
      const cell = kept.cells.get(channel)
      if (cell?.value === undefined) continue
      found.get(channel)!.seed = copy(cell.value)
      open.delete(channel)
    }
    at = kept.parentId
  }
  for (const history of found.values()) history.writes.reverse()
  return Object.fromEntries(found)
}

function emptyHistory(channels: string[]): Record<string, DeltaHistory> {
  return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}

function byKey(a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]): number {
  return a[0] === b[0] ? 0 : a[0] < b[0] ? -1 : 1
}
