import type {
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointTuple,
} from '../checkpointer/checkpointer.ts'
import { addressOf, configOf, missing, nextVersion, placeOf } from '../checkpointer/config.ts'
import { jsonSerde, type Serde } from '../checkpointer/serde.ts'
import {
  byKey,
  type DeltaHistory,
  deltaHistory,
  type Kept,
  keep,
  matches,
  type Namespace,
  type PendingWrite,
  toTuple,
} from './checkpoints.ts'
import { copy } from './copy.ts'

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

/**
 * A saver in this process's memory. It keeps copies (see `copy`), one per channel version, that share what did not change: a
 * superstep costs its changes. LangChain messages come back as messages.
 */
export function memoryCheckpointer(): MemoryCheckpointer {
  return countedMemoryCheckpointer().checkpointer
}

/** The same, beside a function that tells how many checkpoints it holds. */
export function countedMemoryCheckpointer(): {
  readonly checkpointer: MemoryCheckpointer
  readonly count: () => number
} {
  const threads = new Map<string, Map<string, Namespace>>()

  function find(threadId: string | undefined, namespace: string): Namespace | undefined {
    return threadId === undefined ? undefined : threads.get(threadId)?.get(namespace)
  }

  function open(threadId: string, name: string): Namespace {
    let namespaces = threads.get(threadId)
    if (!namespaces) threads.set(threadId, (namespaces = new Map()))
    let namespace = namespaces.get(name)
    if (!namespace) {
      namespace = { kept: new Map(), writes: new Map(), newest: undefined }
      namespaces.set(name, namespace)
    }
    return namespace
  }

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace: name = '', checkpointId } = addressOf(config)
    const namespace = find(threadId, name)
    const id = checkpointId ?? namespace?.newest
    const kept = id === undefined ? undefined : namespace?.kept.get(id)
    return kept && toTuple(threadId!, name, namespace!, kept)
  }

  const checkpointer: MemoryCheckpointer = {
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
  const count = () =>
    [...threads.values()]
      .flatMap((namespaces) => [...namespaces.values()])
      .reduce((sum, { kept }) => sum + kept.size, 0)
  return { checkpointer, count }
}

function* listTuples(
  threads: ReadonlyMap<string, ReadonlyMap<string, Namespace>>,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions,
): Generator<CheckpointTuple> {
  const { threadId, namespace: wanted, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  const rows: [id: string, kept: Kept, threadId: string, name: string, namespace: Namespace][] = []
  for (const thread of threadId ? [threadId] : threads.keys()) {
    for (const [name, namespace] of threads.get(thread) ?? []) {
      if (wanted !== undefined && name !== wanted) continue
      for (const [id, kept] of namespace.kept) {
        if (checkpointId !== undefined && id !== checkpointId) continue
        if (end === undefined || id < end) rows.push([id, kept, thread, name, namespace])
      }
    }
  }
  rows.sort(byKey).reverse()
  let left = limit
  for (const [, kept, thread, name, namespace] of rows) {
    if (left <= 0) return
    if (!matches(kept.metadata, filter)) continue
    left -= 1
    yield toTuple(thread, name, namespace, kept)
  }
}

function emptyHistory(channels: string[]): Record<string, DeltaHistory> {
  return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
