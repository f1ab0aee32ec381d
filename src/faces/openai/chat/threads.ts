import { uuidOf } from '../../../core/ids.ts'
import { namesOwnerOf } from '../../../core/principal.ts'
import type { Op, Store } from '../../../storage/store/store.ts'
import { threadIdOf } from '../../kit/ids.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { isTaskPrompt, plainText } from '../content.ts'
import { CHAT_HEADERS } from '../ids.ts'
import type { Turn } from '../input.ts'
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

const COLLECTION = 'openai_turns'

/** The names of a turn. */
export interface TurnDigest {
  /** Of all that the client has sent in it and in the turns before. */
  readonly full: string
  /** Of the user's messages alone, because some clients do not send results of tools again. */
  readonly spoken: string
}

export async function digestsOf(turns: readonly Turn[]): Promise<readonly TurnDigest[]> {
  const digests: TurnDigest[] = []
  for (const { full, spoken } of turns) {
    const last = digests.at(-1)
    digests.push({
      full: await uuidOf([last?.full ?? null, full]),
      spoken: spoken === '' && last ? last.spoken : await uuidOf(['spoken', last?.spoken ?? null, spoken]),
    })
  }
  return digests
}

/** Stores which run has answered a turn, in the run's commit. A regenerated turn has the later run. */
export const putTurn = ({ full, spoken }: TurnDigest, runId: string): readonly Op[] =>
  [full, spoken].map((id) => ({ op: 'put', collection: COLLECTION, id, value: { runId } }))

/** How far back a known turn is searched. */
const MAX_TURNS_BACK = 8

/** The last turn before the newest one that a thread knows, by its position, and the run that has answered it. */
export async function knownTurn(
  store: Store,
  threadId: string,
  turns: readonly Turn[],
  digests: readonly TurnDigest[],
): Promise<{ readonly at: number; readonly runId: string } | undefined> {
  const hasOutputs = turns.some(({ hasOutput }) => hasOutput)
  const newest = turns.length - 2
  for (let at = newest; at >= 0 && at > newest - MAX_TURNS_BACK; at--) {
    const { full, spoken } = digests[at]!
    const runId =
      (hasOutputs ? await runOfTurn(store, threadId, full) : undefined) ??
      (await runOfTurn(store, threadId, spoken))
    if (runId !== undefined) return { at, runId }
  }
  return undefined
}

/** The run that has answered a turn of a thread. */
async function runOfTurn(store: Store, threadId: string, digest: string): Promise<string | undefined> {
  const doc = await store.get(threadId, COLLECTION, digest)
  return (doc?.value as { readonly runId: string } | undefined)?.runId
}
