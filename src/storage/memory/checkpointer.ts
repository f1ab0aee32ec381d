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

/** The same, beside a function that counts its checkpoints. */
export function countedMemoryCheckpointer(): {
  readonly checkpointer: MemoryCheckpointer
  readonly count: () => number
} {
  const threads = new Map<string, Map<string, Namespace>>()

  /** It is kept from `add` on, so that what cannot be copied leaves nothing behind. */
  function namespaceAt(threadId: string, name: string): Namespace {
    return threads.get(threadId)?.get(name) ?? { kept: new Map(), writes: new Map(), newest: undefined }
  }

  function add(threadId: string, name: string, namespace: Namespace): void {
    const thread = threads.get(threadId) ?? new Map<string, Namespace>()
    threads.set(threadId, thread.set(name, namespace))
  }

  function find({ threadId, namespace, checkpointId }: SavedAt): Kept | undefined {
    const { kept, newest } = namespaceAt(threadId, namespace)
    return kept.get(checkpointId ?? newest ?? '')
  }

  /** One checkpoint at a time, so that no more is copied than is taken. */
  async function* pages(scope: CheckpointScope) {
    const { threadId } = scope
    const inThreads = threadId === undefined ? [...threads.values()] : [threads.get(threadId)]
    const found = inThreads
      .flatMap((thread) => [...(thread?.values() ?? [])])
      .flatMap(({ kept }) => [...kept.values()])
      .filter(({ namespace, checkpointId }) => isInScope(scope, namespace, checkpointId))
    for (const kept of found.sort(newestFirst)) yield [kept]
  }

  const tuples: CheckpointTuples = {
    async load(at) {
      const kept = find(at)
      return kept && tupleOf(kept)
    },
    list: (config, options) =>
      listTuples<Kept>(
        { pages, metadataOf: ({ metadata }) => metadata, load: (page) => Promise.all(page.map(tupleOf)) },
        config,
        options,
      ),
    async put(given) {
      const { threadId, namespace: name, checkpoint } = given
      const namespace = namespaceAt(threadId, name)
      const { id } = checkpoint
      namespace.kept.set(id, keep(namespace, given))
      if (namespace.newest === undefined || id > namespace.newest) namespace.newest = id
      add(threadId, name, namespace)
    },
    async putWrites({ threadId, namespace: name, checkpointId, taskId, writes }) {
      const copies = writes.map(([channel, value], position) => {
        return { taskId, place: placeOf(channel, position), channel, value: copy(value) }
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
    async *ancestors(at, channels) {
      for (let kept = find(at); kept?.parentId !== undefined; ) {
        const { home, parentId }: Kept = kept
        const parent = home.kept.get(parentId)
        if (!parent) return
        yield {
          writes: writesOf(home, parentId, (channel) => channels.includes(channel)),
          value: async (channel) => copy(parent.cells.get(channel)?.value),
        }
        kept = parent
      }
    },
  }
  const count = () =>
    [...threads.values()]
      .flatMap((namespaces) => [...namespaces.values()])
      .reduce((sum, { kept }) => sum + kept.size, 0)
  return { checkpointer: createSaver('memoryCheckpointer', jsonSerde, tuples), count }
}
