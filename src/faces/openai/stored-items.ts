import { uuid7 } from '../../core/ids.ts'
import { type AgentEngine, internalsOf } from '../../engine/index.ts'
import { ConflictError } from '../../storage/errors.ts'
import type { Json, Op } from '../../storage/store/store.ts'
import { badRequest, noSuchConversation } from './errors.ts'
import type { InputItem } from './wire.ts'

/**
 * Items that a client has added to a conversation. They are kept beside the thread, and the next response in
 * the conversation takes them as the begin of its input.
 */

const COLLECTION = 'openai_items'

const MAX_KEPT = 1_000

export type StoredItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/** The items, in the order in which they were added. */
export async function storedItems(engine: AgentEngine, threadId: string): Promise<readonly StoredItem[]> {
  const { docs } = await internalsOf(engine).store.list(COLLECTION, { partition: threadId, limit: MAX_KEPT })
  return docs.map(({ value }) => value as unknown as StoredItem)
}

/** Adds items, with an id each. Throws 404 if the conversation is deleted in the meantime. */
export async function addItems(
  engine: AgentEngine,
  threadId: string,
  given: readonly InputItem[],
): Promise<readonly StoredItem[]> {
  const { store } = internalsOf(engine)
  if ((await storedItems(engine, threadId)).length + given.length > MAX_KEPT)
    throw badRequest(`items: a conversation keeps at most ${MAX_KEPT} items that no response has taken.`)
  const items = given.map(keptItem)
  const ops = items.map(
    (item): Op => ({
      op: 'put',
      collection: COLLECTION,
      id: item.id,
      value: item as unknown as Json,
    }),
  )
  for (;;) {
    const thread = await store.get(threadId, 'threads', threadId)
    if (!thread) throw noSuchConversation(threadId)
    try {
      const { version } = thread
      await store.commit(threadId, {
        guards: [{ guard: 'version', collection: 'threads', id: threadId, version }],
        ops,
      })
      return items
    } catch (error) {
      // A run has changed the thread.
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

/** Whether there was such an item. */
export async function deleteKept(engine: AgentEngine, threadId: string, id: string): Promise<boolean> {
  const { store } = internalsOf(engine)
  if (!(await store.get(threadId, COLLECTION, id))) return false
  await store.commit(threadId, { ops: takeItems([{ id }]) })
  return true
}

/** Removes items that become part of a run's input. */
export const takeItems = (items: readonly Pick<StoredItem, 'id'>[]): readonly Op[] =>
  items.map(({ id }) => ({ op: 'delete', collection: COLLECTION, id }))

function keptItem(item: InputItem): StoredItem {
  const { type = 'message', content } = item
  const text = item.role === 'assistant' ? 'output_text' : 'input_text'
  return {
    ...item,
    ...(typeof content === 'string' && { content: [{ type: text, text: content }] }),
    type,
    // Ids of one process sort in their order.
    id: `item_${uuid7().replaceAll('-', '')}`,
    status: 'completed',
  }
}
