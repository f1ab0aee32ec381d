import type { RunInput } from '../../agents/agent.ts'
import { empty, json } from '../../core/http/index.ts'
import {
  type AnswerRecord,
  currentRun,
  type FoundAnswer,
  headOf,
  isAnswerEnded,
  type ThreadSnapshot,
} from '../../engine/index.ts'
import { decodeMessage, type Message } from '../../messages/index.ts'
import { isRecord, itemsOf } from '../../messages/record.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import { requireThread, threadNotFound } from '../kit/require-thread.ts'
import { type FaceCall, type FaceRow, route } from '../kit/routes.ts'
import type { AiSdkContext } from './options.ts'
import { filesOf, openCalls, partsOf, replyId, type Shape, type Turn, turnsOf, usageOf } from './parts.ts'
import { postChat } from './post-chat.ts'
import { openQuestions, withQuestions } from './questions.ts'
import { chunkResponse, follow } from './stream.ts'
import type { ChatMessage, ChatPart } from './ui-message.ts'
import { chatSchema, type StopBody, stopSchema } from './wire.ts'
import { createChunkWriter } from './writer.ts'

/**
 * `GET /chat/{id}/stream`: the answer that is active or waits for the user, from its start. 204 if there is
 * none, and for a thread that does not exist or has another owner, because this client treats any other
 * status as a failure.
 */
async function getStream(context: AiSdkContext, call: FaceCall): Promise<Response> {
  const { engine, shape } = context
  const { threadId, principal } = call
  const found = await resumable(context, call)
  if (!found) return empty(204)
  const head = await headOf(engine, found.thread)
  const { taskId: answerId } = found.record
  return chunkResponse(context, call, async (signal) => {
    const answer = await engine.follow({
      threadId,
      principal,
      answerId,
      signal,
      filter: ANSWER_EVENTS,
      batches: true,
    })
    // The thread may have been deleted just now.
    if (!answer) throw threadNotFound(threadId)
    const place = { head, userId: answeredUser(found.record) }
    return { answer, follower: follow(createChunkWriter(shape), [], place) }
  })
}

/**
 * How long a finished answer can still be streamed, in milliseconds. Its page may have loaded the history
 * before the end.
 */
const ENDED_MS = 10_000

async function resumable(
  { engine }: AiSdkContext,
  { threadId, principal }: FaceCall,
): Promise<FoundAnswer | undefined> {
  const active = await engine.findAnswer({ threadId, principal })
  if (active) return active
  const thread = await engine.findThread({ threadId, principal })
  if (!thread?.lastRunId) return undefined
  const last = await engine.findAnswer({ threadId, principal, thread, answerId: thread.lastRunId })
  return last && Date.now() - last.record.updatedAt < ENDED_MS ? last : undefined
}

/** The user message that an answer of this face was stored with. */
function answeredUser({ details }: AnswerRecord): string | undefined {
  const userId: unknown = Object(Object(details).aiSdk).userId
  return typeof userId === 'string' ? userId : undefined
}

/**
 * `POST /chat/{id}/stop`: stops the active answer or dismisses its questions, and responds when it has ended.
 * With `messageId`, only the answer of that assistant message: a late click does not stop the next one.
 */
async function postStop(context: AiSdkContext, call: FaceCall<StopBody>): Promise<Response> {
  const { engine } = context
  const { threadId, principal, signal } = call
  const { messageId } = call.body
  const thread = await requireThread(context, call)
  const active = await engine.findAnswer({ threadId, principal, thread })
  const userId = active && answeredUser(active.record)
  const isOther = messageId !== undefined && userId !== undefined && replyId(userId) !== messageId
  if (!active || isOther) return empty(204)
  const { taskId: answerId } = active.record
  await engine.cancel({ threadId, principal, answerId })
  const answer = await engine.follow({ threadId, principal, answerId, signal })
  await answer?.ended()
  return empty(204)
}

/** `GET /chat/{id}`: the thread's messages, for a page's first render. */
async function getMessages(context: AiSdkContext, call: FaceCall): Promise<Response> {
  const { engine } = context
  const { threadId, principal } = call
  const snapshot = await engine.snapshot({ threadId, principal })
  if (!snapshot) await requireThread(context, call)
  if (!snapshot) return json([])
  const { answer, state } = snapshot
  const isActive = answer !== null && !isAnswerEnded(answer)
  const run = isActive ? await engine.getRun({ threadId, principal, runId: currentRun(answer) }) : undefined
  const turns = turnsOf(withInput(state?.values.messages, run?.start))
  return json(messagesOf(turns, snapshot.questions, isActive, context.shape))
}

/** The messages of a state, plus the user messages of a run that has started but not yet saved a state. */
function withInput(messages: unknown, start: RunInput | undefined): readonly unknown[] {
  const known = itemsOf(messages)
  const ids = new Set(known.map((message) => decodeMessage(message)?.id))
  const given = start?.kind === 'input' && isRecord(start.value) ? itemsOf(start.value.messages) : []
  const isNew = (message: Message | undefined) =>
    message?.role === 'user' && message.id !== undefined && !ids.has(message.id)
  return [...known, ...given.filter((message) => isNew(decodeMessage(message)))]
}

function messagesOf(
  turns: readonly Turn[],
  questions: ThreadSnapshot['questions'],
  isActive: boolean,
  shape: Shape,
): readonly ChatMessage[] {
  return turns.flatMap(({ user, userId, replies }, at): ChatMessage[] => {
    const isLast = at === turns.length - 1
    const shown: ChatMessage[] = user ? [{ id: userId!, role: 'user', parts: userParts(user) }] : []
    let parts = partsOf(replies, shape, !(isLast && isActive))
    if (isLast) parts = withQuestions(parts, openQuestions(questions, openCalls(replies), shape), shape)
    if (parts.length === 0) return shown
    const usage = usageOf(replies)
    return [
      ...shown,
      { id: replyId(userId), role: 'assistant', ...(usage && { metadata: { usage } }), parts },
    ]
  })
}

/** User messages may not be empty. */
function userParts({ content }: Message): readonly ChatPart[] {
  const parts = content.flatMap((block): readonly ChatPart[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return 'mimeType' in block || 'url' in block || 'base64' in block ? filesOf(block) : []
  })
  return parts.length > 0 ? parts : [{ type: 'text', text: '' }]
}

/** The package `ai` defines the messages and chunks. */
export const ROUTES: readonly FaceRow<AiSdkContext>[] = [
  route('POST', '/chat', {
    // The thread is in the body.
    permission: null,
    summary: 'Send a message of a chat, edit one, regenerate an answer, or continue one.',
    body: chatSchema,
    streams: true,
    run: postChat,
  }),
  route('GET', '/chat/:thread_id', {
    permission: 'threads:read',
    summary: 'Get the messages of a chat.',
    answers: {
      200: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            role: { enum: ['user', 'assistant'] },
            metadata: { type: 'object' },
            parts: { type: 'array', items: { type: 'object' } },
          },
          required: ['id', 'role', 'parts'],
        },
      },
    },
    run: getMessages,
  }),
  route('GET', '/chat/:thread_id/stream', {
    permission: 'threads:stream',
    summary: 'Stream the active answer from its beginning.',
    answers: { 204: null },
    streams: true,
    run: getStream,
  }),
  route('POST', '/chat/:thread_id/stop', {
    permission: 'runs:cancel',
    summary: 'Stop the active answer.',
    body: stopSchema,
    answers: { 204: null },
    run: postStop,
  }),
]
