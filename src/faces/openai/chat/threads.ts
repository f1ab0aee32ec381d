import { uuidOf } from '../../../core/ids.ts'
import { namesOwnerOf } from '../../../core/principal.ts'
import { threadIdOf } from '../../kit/ids.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { plainText } from '../content.ts'
import { CHAT_HEADERS } from '../headers.ts'
import type { Turn } from '../input.ts'
import { isTaskPrompt } from '../templates.ts'
import type { ChatBody } from '../wire.ts'

/** The thread that stores a chat. Undefined if the client names none, so that the request stands alone. */
export interface ChatThread {
  readonly threadId: string
  /** Whether the client is a chat UI, which sends the whole history and shows questions as text only. */
  readonly isOfUi: boolean
}

/** Whether a request is a task of a UI, which is not part of the conversation. */
function isTask({ messages }: Pick<ChatBody, 'messages'>): boolean {
  const isSystem = ({ role }: { readonly role: string }) => role === 'system' || role === 'developer'
  const [only, ...others] = messages.filter((one) => !isSystem(one))
  if (only?.role !== 'user' || others.length > 0) return false
  return isTaskPrompt(plainText(only.content), plainText(messages.find(isSystem)?.content))
}

/**
 * The thread that a client names: in `metadata.thread_id` or `X-Thread-Id`, or by a UI's chat id. A chat has
 * one thread for each assistant, because UIs ask several at once, and for each first message, so that prompts
 * of the UI's own that are not recognised touch no conversation. Throws 400 for an invalid thread id.
 */
export async function chatThreadOf(
  { request: { headers }, principal }: FaceCall,
  body: ChatBody,
  assistantId: string,
  [first]: readonly Turn[],
): Promise<ChatThread | undefined> {
  if (isTask(body)) return undefined
  const named = body.metadata?.thread_id ?? headers.get('x-thread-id')
  if (typeof named === 'string' && named !== '') return { threadId: threadIdOf(named), isOfUi: false }
  const chatId = CHAT_HEADERS.map((name) => headers.get(name)).find(isChatId)
  if (!chatId) return undefined
  const owner = namesOwnerOf(principal)
  return {
    threadId: await uuidOf(['openai chat', owner, assistantId, chatId, first?.opening ?? null]),
    isOfUi: true,
  }
}

/** LibreChat sends these words, or its placeholder, before a conversation has an id. */
const isChatId = (value: string | null): value is string =>
  value !== null && !/^(|null|new|undefined|\{\{.*\}\})$/.test(value)
