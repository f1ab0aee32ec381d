import { placeOf } from '../checkpointer/config.ts'
import { copy } from '../checkpointer/copy.ts'
import { type CheckpointScope, isInScope, listTuples, newestFirst } from '../checkpointer/list-tuples.ts'
import {
  type CheckpointSaver,
  type CheckpointTuples,
  createSaver,
  type SavedAt,
} from '../checkpointer/saver.ts'
import { jsonSerde } from '../checkpointer/serde.ts'
import { type Kept, keep, type Namespace, tupleOf, writesOf } from './checkpoints.ts'

export type MemoryCheckpointer = CheckpointSaver

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

  function open(threadId: string, name: string): Namespace {
    const thread = at(threads, threadId, () => new Map<string, Namespace>())
    return at(thread, name, () => ({
      threadId,
      name,
      kept: new Map(),
      writes: new Map(),
      newest: undefined,
    }))
  }

  function find({ threadId, namespace: name, checkpointId }: SavedAt) {
    const namespace = threads.get(threadId)?.get(name)
    const kept = namespace?.kept.get(checkpointId ?? namespace.newest ?? '')
    return kept && { namespace: namespace!, kept }
  }

  /** One checkpoint at a time, so that no more is copied than is taken. */
  async function* pages(scope: CheckpointScope) {
    const { threadId } = scope
    const rows: Listed[] = []
    for (const thread of threadId === undefined ? threads.values() : [threads.get(threadId)]) {
      for (const namespace of thread?.values() ?? []) {
        for (const [checkpointId, kept] of namespace.kept) {
          if (!isInScope(scope, namespace.name, checkpointId)) continue
          rows.push({
            threadId: namespace.threadId,
            namespace: namespace.name,
            checkpointId,
            kept,
            in: namespace,
          })
        }
      }
    }
    for (const row of rows.sort(newestFirst)) yield [row]
  }

  const tuples: CheckpointTuples = {
    async load(at) {
      const found = find(at)
      return found && tupleOf(found.namespace, found.kept)
    },
    list: (config, options) =>
      listTuples<Listed>(
        {
          pages,
          metadataOf: ({ kept }) => kept.metadata,
          load: (rows) => Promise.all(rows.map((row) => tupleOf(row.in, row.kept))),
        },
        config,
        options,
      ),
    async put(given) {
      const { threadId, namespace: name, checkpoint } = given
      // A value that cannot be copied leaves nothing behind.
      const kept = keep(threads.get(threadId)?.get(name), given)
      const namespace = open(threadId, name)
      const { id } = checkpoint
      namespace.kept.set(id, kept)
      if (namespace.newest === undefined || id > namespace.newest) namespace.newest = id
    },
    async putWrites({ threadId, namespace, checkpointId, taskId, writes }) {
      const copies = writes.map(([channel, value]) => ({ taskId, channel, value: copy(value) }))
      const kept = at(open(threadId, namespace).writes, checkpointId, () => new Map())
      for (const [position, write] of copies.entries()) {
        const place = placeOf(write.channel, position)
        const key = `${place} ${taskId}`
        if (place < 0 || !kept.has(key)) kept.set(key, { ...write, place })
      }
    },
    async deleteThread(threadId) {
      threads.delete(threadId)
    },
    async *ancestors(at, channels) {
      const found = find(at)
      if (!found) return
      const { namespace } = found
      for (let id = found.kept.parentId; id !== undefined; ) {
        const kept = namespace.kept.get(id)
        if (!kept) return
        yield {
          writes: writesOf(namespace, id, (channel) => channels.includes(channel)),
          value: async (channel) => copy(kept.cells.get(channel)?.value),
        }
        id = kept.parentId
      }
    },
  }
  const count = () =>
    [...threads.values()]
      .flatMap((namespaces) => [...namespaces.values()])
      .reduce((sum, { kept }) => sum + kept.size, 0)
  return { checkpointer: createSaver('memoryCheckpointer', jsonSerde, tuples), count }
}

interface Listed {
  readonly threadId: string
  readonly namespace: string
  readonly checkpointId: string
  readonly kept: Kept
  readonly in: Namespace
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
