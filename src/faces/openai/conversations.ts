import { json } from '../../core/http/index.ts'
import { uuid7 } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import type { ThreadRecord } from '../../engine/index.ts'
import { decodeMessage, type Message, textOf } from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'
import { itemsOf as stateItems } from '../../messages/record.ts'
import { permit, type ThreadAction } from '../kit/access.ts'
import { threadIdOf } from '../kit/ids.ts'
import { numberParam } from '../kit/lists.ts'
import type { FaceCall } from '../kit/routes.ts'
import { badRequest, noSuchConversation, noSuchItem } from './errors.ts'
import { idOf } from './ids.ts'
import type { OpenAiContext } from './options.ts'
import { threadOfConversation } from './responses/post.ts'
import { addItems, deleteKept, storedItems } from './stored-items.ts'
import type { ConversationBody, ConversationPatch, ItemsBody } from './wire.ts'

/** A conversation is a thread. Its items are the messages of the thread's state. */

const MAX_TEXT = 512

const present = ({ threadId, createdAt, metadata }: ThreadRecord) => ({
  id: idOf('conv', threadId),
  object: 'conversation',
  created_at: Math.floor(createdAt / 1_000),
  // Only metadata that clients of this protocol can set is returned.
  metadata: Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => typeof value === 'string' && value.length <= MAX_TEXT),
  ),
})

/** `POST /v1/conversations`. */
export async function postConversation(
  { engine, authorize }: OpenAiContext,
  call: FaceCall<ConversationBody>,
): Promise<Response> {
  const { metadata, items = [] } = call.body
  const threadId = uuid7()
  const permitted = await permit(authorize, call, 'threads:create', { threadId }, call.json)
  const own = { ...metadata, ...(permitted.fields?.metadata as object | undefined) }
  const thread = await engine.createThread({ threadId, principal: permitted.principal, metadata: own })
  if (items.length > 0) await addItems(engine, threadId, items)
  return json(present(thread!))
}

interface Found {
  readonly thread: ThreadRecord
  readonly principal: Principal | null
  /** The metadata that the permission sets. */
  readonly metadata: Metadata
}

type Metadata = Readonly<Record<string, unknown>>

/** The conversation that a path names. Throws 404. */
async function conversationOf(
  { engine, authorize }: OpenAiContext,
  call: FaceCall,
  action: ThreadAction,
): Promise<Found> {
  const id = call.params.conversation_id ?? ''
  const threadId = threadIdOf(threadOfConversation(id))
  const { principal, fields } = await permit(authorize, call, action, { threadId }, call.json)
  const thread = await engine.findThread({ threadId, principal })
  if (thread) return { thread, principal, metadata: (fields?.metadata ?? {}) as Metadata }
  throw noSuchConversation(id)
}

/** `GET /v1/conversations/{id}`. */
export async function getConversation(context: OpenAiContext, call: FaceCall): Promise<Response> {
  return json(present((await conversationOf(context, call, 'threads:read')).thread))
}

/** `POST /v1/conversations/{id}` with metadata. */
export async function patchConversation(
  context: OpenAiContext,
  call: FaceCall<ConversationPatch>,
): Promise<Response> {
  const { metadata } = call.body
  const { thread, principal, metadata: own } = await conversationOf(context, call, 'threads:update')
  const { threadId } = thread
  const patch = { threadId, principal, metadata: { ...metadata, ...own } }
  return json(present(await context.engine.patchThread(patch)))
}

/** `DELETE /v1/conversations/{id}`. */
export async function deleteConversation(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { thread, principal } = await conversationOf(context, call, 'threads:delete')
  const { threadId } = thread
  await context.engine.deleteThread({ threadId, principal })
  return json({ id: idOf('conv', threadId), object: 'conversation.deleted', deleted: true })
}

/** `GET /v1/conversations/{id}/items?limit&order&after`: newest first by default. */
export async function listItems(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { thread } = await conversationOf(context, call, 'threads:read')
  return json(pageOf(call, await itemsOf(context, thread)))
}

/** `POST /v1/conversations/{id}/items`. */
export async function postItems(context: OpenAiContext, call: FaceCall<ItemsBody>): Promise<Response> {
  const { items } = call.body
  const { thread } = await conversationOf(context, call, 'threads:update')
  return json(listOf(await addItems(context.engine, thread.threadId, items), false))
}

/** `GET /v1/conversations/{id}/items/{item_id}`. */
export async function getItem(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { thread } = await conversationOf(context, call, 'threads:read')
  const id = call.params.item_id ?? ''
  const item = (await itemsOf(context, thread)).find((one) => one.id === id)
  if (!item) throw noSuchItem(id)
  return json(item)
}

/** `DELETE /v1/conversations/{id}/items/{item_id}`, of an item that no response has taken. */
export async function deleteItem(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { thread } = await conversationOf(context, call, 'threads:update')
  const id = call.params.item_id ?? ''
  if (!(await deleteKept(context.engine, thread.threadId, id))) {
    if ((await itemsOf(context, thread)).some((one) => one.id === id))
      throw badRequest('item_id: a message of the state of an agent cannot be deleted here.')
    throw noSuchItem(id)
  }
  const { threadId, createdAt } = thread
  const created_at = Math.floor(createdAt / 1_000)
  return json({ id: idOf('conv', threadId), object: 'conversation', created_at, metadata: {} })
}

async function itemsOf({ engine }: OpenAiContext, thread: ThreadRecord): Promise<readonly Item[]> {
  const [state, kept] = await Promise.all([engine.readState(thread), storedItems(engine, thread.threadId)])
  return [...itemsOfState(state?.values.messages), ...kept]
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** A page of items, which are in the order of the conversation. */
export function pageOf(call: FaceCall, items: readonly Item[]) {
  const params = call.url.searchParams
  const all = params.get('order') === 'asc' ? items : items.toReversed()
  const after = params.get('after')
  const begin = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== null && begin === 0) throw badRequest('after: expected the id of an item.')
  const limit = numberParam(call, 'limit', DEFAULT_LIMIT, MAX_LIMIT)
  const data = all.slice(begin, begin + limit)
  return listOf(data, begin + data.length < all.length)
}

const listOf = (data: readonly Item[], has_more: boolean) => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
})

/** An item of a conversation. */
type Item = Readonly<Record<string, unknown>> & { readonly id: string }

/** The messages of a state as items, without calls and results of tools. */
export const itemsOfState = (messages: unknown): readonly Item[] =>
  stateItems(messages).flatMap((raw, at) => itemOf(decodeMessage(raw), at))

function itemOf(message: Message | undefined, at: number): readonly Item[] {
  if (!message || message.role === 'tool' || message.role === 'reasoning' || isSummary(message)) return []
  const text = textOf(message)
  const isOwn = message.role === 'assistant'
  // A message with only tool calls has no text.
  if (isOwn && text === '') return []
  const content = isOwn
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'input_text', text }
  return [
    {
      type: 'message',
      id: message.id ?? `msg_${at}`,
      status: 'completed',
      role: message.role,
      content: [content],
    },
  ]
}
