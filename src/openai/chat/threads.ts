import { threadIdOf } from '../../face/ids.ts'
import type { FaceCall } from '../../face/routes.ts'
import { uuidOf } from '../../ids.ts'
import { namesOwnerOf } from '../../principal.ts'
import { plainText } from '../content.ts'
import { CHAT_HEADERS } from '../headers.ts'
import type { ChatBody } from '../wire.ts'

/** The thread that stores a chat. Undefined if the client names none, so that the request stands alone. */
export interface ChatThread {
  readonly threadId: string
  /** Whether the client is a chat UI, which sends the whole history and shows questions as text only. */
  readonly isOfUi: boolean
}

/**
 * Requests that UIs send to the same model outside of the conversation: for titles, tags, follow-up questions
 * and searches.
 */
const TASK =
  /^\s*(### Task:|Provide a concise, 5-word-or-less title|Analyze this conversation and provide:|Please generate a (concise|short)\b.*\btitle)/i

/** Whether a request is such a task, which is not part of the conversation. */
export function isTask({ messages }: Pick<ChatBody, 'messages'>): boolean {
  const spoken = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  return spoken.length === 1 && spoken[0]!.role === 'user' && TASK.test(plainText(spoken[0]!.content))
}

/**
 * The thread that a client names: in `metadata.thread_id` or `X-Thread-Id`, or by a UI's chat id. A chat has
 * one thread for each assistant, because UIs ask several at once. Throws 400 for an invalid thread id.
 */
export async function chatThreadOf(
  { request: { headers }, principal }: FaceCall,
  body: ChatBody,
  assistantId: string,
): Promise<ChatThread | undefined> {
  if (isTask(body)) return undefined
  const named = body.metadata?.thread_id ?? headers.get('x-thread-id')
  if (typeof named === 'string' && named !== '') return { threadId: threadIdOf(named), isOfUi: false }
  const chatId = CHAT_HEADERS.map((name) => headers.get(name)).find(isChatId)
  if (!chatId) return undefined
  const owner = namesOwnerOf(principal)
  return { threadId: await uuidOf(['openai chat', owner, assistantId, chatId]), isOfUi: true }
}

/** LibreChat sends these words, or its placeholder, before a conversation has an id. */
const isChatId = (value: string | null): value is string =>
  value !== null && !/^(|null|new|undefined|\{\{.*\}\})$/.test(value)
