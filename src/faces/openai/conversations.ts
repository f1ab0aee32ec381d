import { json } from '../../core/http/index.ts'
import { uuid7 } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import type { ThreadRecord } from '../../engine/index.ts'
import { permit, type ThreadAction } from '../kit/access.ts'
import { threadIdOf } from '../kit/ids.ts'
import type { FaceCall } from '../kit/routes.ts'
import { noSuchConversation } from './errors.ts'
import { idOf } from './ids.ts'
import { addItems } from './items/stored-items.ts'
import type { OpenAiContext } from './options.ts'
import { threadOfConversation } from './responses/post.ts'
import type { ConversationBody, ConversationPatch } from './wire.ts'

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
export async function conversationOf(
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
