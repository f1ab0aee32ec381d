import { type SavedAt, writeIndexOf } from '../checkpointer/config.ts'
import { copy } from '../checkpointer/copy.ts'
import { metadataCheck, newestFirst, placesInScope, scopeOf } from '../checkpointer/list-tuples.ts'
import { type CheckpointSaver, type CheckpointTuples, createSaver } from '../checkpointer/saver.ts'
import { jsonSerde } from '../checkpointer/serde.ts'
import { type Kept, keep, type Namespace, tupleOf, writesOf } from './checkpoints.ts'

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
  /**
   * A namespace is stored when `add` is called, so that a value that cannot be copied leaves nothing behind.
   */
  function namespaceAt(threadId: string, name: string): Namespace {
    return threads.get(threadId)?.get(name) ?? { kept: new Map(), writes: new Map(), newest: undefined }
  }

  function add(threadId: string, name: string, namespace: Namespace): void {
    const thread = threads.get(threadId) ?? new Map<string, Namespace>()
    threads.set(threadId, thread.set(name, namespace))
  }

  function find({ threadId, namespace, checkpointId }: SavedAt): Kept | undefined {
    const { kept, newest } = namespaceAt(threadId, namespace)
    return checkpointId === undefined ? newest : kept.get(checkpointId)
  }

  const tuples: CheckpointTuples = {
    async load(at, isShared) {
      const kept = find(at)
      return kept && tupleOf(kept, isShared)
    },
    newest: async (threadId, namespace) => namespaceAt(threadId, namespace).newest?.checkpointId,
    async *list(config, { limit = Number.POSITIVE_INFINITY, before, filter = {} } = {}) {
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
    },
    async put(given) {
      const { threadId, namespace: name, checkpoint } = given
      const namespace = namespaceAt(threadId, name)
      const { id } = checkpoint
      const kept = keep(namespace, given)
      if (!namespace.kept.has(id) || namespace.newest?.checkpointId === id) namespace.newest = kept
      namespace.kept.set(id, kept)
      add(threadId, name, namespace)
    },
    async putWrites({ threadId, namespace: name, checkpointId, taskId, writes }) {
      const copies = writes.map(([channel, value], position) => {
        return { taskId, place: writeIndexOf(channel, position), channel, value: copy(value) }
      })
      const namespace = namespaceAt(threadId, name)
      const kept = namespace.writes.get(checkpointId) ?? new Map()
      namespace.writes.set(checkpointId, kept)
      for (const write of copies) {
        const key = `${write.place} ${taskId}`
        if (write.place < 0 || !kept.has(key)) kept.set(key, write)
      }
      add(threadId, name, namespace)
    },
    async deleteThread(threadId) {
      threads.delete(threadId)
    },
    async *places(threadId) {
      const namespaces = [...(threads.get(threadId)?.values() ?? [])]
      yield* namespaces.flatMap(({ kept }) => [...kept.values()]).sort(newestFirst)
    },
    async keepOnly(threadId, remainders) {
      for (const { namespace: name, newest, checkpointIds } of remainders) {
        const namespace = namespaceAt(threadId, name)
        if (namespace.newest?.checkpointId !== newest) continue
        const { kept, writes } = namespace
        // Writes may arrive before their checkpoint.
        for (const id of writes.keys())
          if ((kept.has(id) || id <= newest) && !checkpointIds.includes(id)) writes.delete(id)
        for (const id of kept.keys()) if (!checkpointIds.includes(id)) kept.delete(id)
      }
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

function parentOf(kept: Kept | undefined): Kept | undefined {
  return kept?.home.kept.get(kept.parentId ?? '')
}
