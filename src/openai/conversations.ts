import { permit, type ThreadAction } from '../face/access.ts'
import { bodyOf } from '../face/body.ts'
import { threadIdOf } from '../face/ids.ts'
import { numberParam } from '../face/lists.ts'
import type { FaceCall } from '../face/routes.ts'
import { json } from '../http/index.ts'
import { uuid7 } from '../ids.ts'
import { decodeMessage, type Message, textOf } from '../messages/index.ts'
import { isSummary } from '../messages/summary.ts'
import type { Principal } from '../principal.ts'
import type { ThreadRecord } from '../runs/index.ts'
import type { OpenAiContext } from './context.ts'
import { badRequest, noSuchConversation } from './errors.ts'
import { idOf } from './ids.ts'
import { threadOfConversation } from './responses/post.ts'
import { conversationPatchSchema, conversationSchema } from './wire.ts'

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
  call: FaceCall,
): Promise<Response> {
  const { metadata } = await bodyOf(conversationSchema, call)
  const threadId = uuid7()
  const permitted = await permit(authorize, call, 'threads:create', { threadId }, call.json)
  const own = { ...metadata, ...(permitted.body?.metadata as object | undefined) }
  const thread = await engine.createThread({ threadId, principal: permitted.principal, metadata: own })
  return json(present(thread!))
}

interface Found {
  readonly thread: ThreadRecord
  readonly principal: Principal | null
  /** The metadata that the permission sets. */
  readonly metadata: Metadata
}

type Metadata = Readonly<Record<string, unknown>>

async function conversationOf(
  { engine, authorize }: OpenAiContext,
  call: FaceCall,
  action: ThreadAction,
): Promise<Found> {
  const id = call.params.conversation_id ?? ''
  const threadId = threadIdOf(threadOfConversation(id))
  const { principal, body } = await permit(authorize, call, action, { threadId }, call.json)
  const thread = await engine.findThread({ threadId, principal })
  if (thread) return { thread, principal, metadata: (body?.metadata ?? {}) as Metadata }
  throw noSuchConversation(id)
}

/** `GET /v1/conversations/{id}`. */
export async function getConversation(context: OpenAiContext, call: FaceCall): Promise<Response> {
  return json(present((await conversationOf(context, call, 'threads:read')).thread))
}

/** `POST /v1/conversations/{id}` with metadata. */
export async function patchConversation(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { metadata } = await bodyOf(conversationPatchSchema, call)
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

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** `GET /v1/conversations/{id}/items?limit&order&after`: the messages, newest first by default. */
export async function listItems(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { thread } = await conversationOf(context, call, 'threads:read')
  const state = await context.engine.readState(thread)
  const { messages } = state?.values ?? {}
  const items = (Array.isArray(messages) ? messages : []).flatMap((raw, at) => itemOf(decodeMessage(raw), at))
  const params = call.url.searchParams
  if (params.get('order') !== 'asc') items.reverse()
  const after = params.get('after')
  const begin = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== null && begin === 0) throw badRequest('after: expected the id of an item.')
  const limit = numberParam(call, 'limit', DEFAULT_LIMIT, MAX_LIMIT)
  const data = items.slice(begin, begin + limit)
  return json({
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: begin + data.length < items.length,
  })
}

function itemOf(message: Message | undefined, at: number) {
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
