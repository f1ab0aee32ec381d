import { HttpError, type Principal } from '../../core/http/index.ts'
import { uuidOf } from '../../core/ids.ts'
import {
  type AgentEngine,
  type CommandKey,
  internalsOf,
  isAnswerEnded,
  lookAtThread,
  questionsBeforeInput,
  RunError,
  type RunRequest,
  receiptIn,
  retryConflicts,
  type ThreadLook,
} from '../../engine/index.ts'
import { permit } from '../kit/access.ts'
import { namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { bodyOf } from '../kit/body.ts'
import { withClientTools } from '../kit/client-tools.ts'
import { isThreadId } from '../kit/ids.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import { threadNotFound } from '../kit/require-thread.ts'
import type { FaceCall } from '../kit/routes.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import { type Decision, decide, isEdit, type Situation, userTurn } from './decide.ts'
import { type Intent, intentOf, invalid } from './intent.ts'
import type { AiSdkContext } from './options.ts'
import { replyId } from './parts.ts'
import { chunkResponse, type Followed, follow, type OpenAnswer } from './stream.ts'
import { type ChatBody, chatSchema, type SentMessage } from './wire.ts'
import { createChunkWriter, startMessage } from './writer.ts'

/** A request with everything that its run needs. */
interface Chat {
  readonly context: AiSdkContext
  readonly call: FaceCall
  readonly body: ChatBody
  readonly threadId: string
  /** Options that every run of this face has. */
  readonly common: Pick<
    RunRequest,
    'request' | 'traceparent' | 'config' | 'context' | 'settingsFrom' | 'assistantId'
  >
}

/**
 * `POST /chat`: sends or edits a message, regenerates an answer, or continues an answer that waits for the
 * user.
 */
export async function postChat(context: AiSdkContext, call: FaceCall<ChatBody>): Promise<Response> {
  return chunkResponse(context, call, async (signal) => begin(await chatOf(context, { ...call, signal })))
}

async function chatOf(context: AiSdkContext, asked: FaceCall<ChatBody>): Promise<Chat> {
  const { engine, authorize, options } = context
  const { id: threadId, assistantId: wanted } = asked.body
  if (!isThreadId(threadId)) throw invalid('id: expected 1 to 512 characters, such as a UUID')
  const assistantId = options.assistantId ?? wanted
  const permitted = await permit(authorize, asked, 'runs:create', { threadId, assistantId }, asked.json)
  const call = { ...permitted, threadId }
  const body = await bodyOf(chatSchema, permitted)
  const named = await namedAssistant(engine, call.principal, assistantId)
  if (!reachesAssistant(call.principal, named))
    throw new HttpError(404, 'not_found', 'There is no such assistant.')
  const { limits } = internalsOf(engine)
  const settings = runSettings(limits, named.assistant, { metadata: body.metadata })
  const { request } = call
  return {
    context,
    call,
    body,
    threadId,
    common: {
      assistantId: named.graphId,
      request,
      traceparent: request.headers.get('traceparent'),
      ...settings,
      config: withClientTools(settings.config, options.clientTools ?? []),
    },
  }
}

/** Looks at the thread, decides, and starts: again if another writer was faster. */
function begin(chat: Chat): Promise<Followed> {
  const { shape } = chat.context
  let intent = intentOf(chat.body)
  return retryConflicts(async () => {
    for (;;) {
      const { looked, situation } = await look(chat, intent)
      const decision = decide(situation, intent, { shape, resume: chat.body.resume })
      const answer = await open(chat, looked, decision)
      if (decision.kind !== 'answer' || intent.kind !== 'send') {
        const { turn } = decision
        const reply = decision.kind === 'answer' ? decision : undefined
        const writer = createChunkWriter(shape, reply?.refused)
        const start = startMessage(writer, replyId(turn.userId), turn.replies, true)
        const first = [...start, ...(reply?.chunks ?? [])]
        return { answer, follower: follow(writer, first) }
      }
      // The message is sent after the rest of the answer that waited.
      await answer.ended()
      intent = { ...intent, before: undefined }
    }
  })
}

/** Reads what the decision about an intent needs. */
async function look({ context: { engine }, call: { principal }, threadId }: Chat, intent: Intent) {
  const at = { threadId, principal }
  const command = intent.kind === 'send' ? await keyOf(intent.message) : undefined
  const looked = await lookAtThread(engine, { ...at, command })
  const { thread } = looked
  const before = (messageId: string) => engine.checkpointBefore({ ...at, messageId })
  if (intent.kind === 'regenerate' || intent.kind === 'continue') {
    const snapshot = await engine.snapshot(at)
    if (!snapshot) throw threadNotFound(threadId)
    const situation: Situation = { snapshot, isAsking: false }
    if (intent.kind === 'continue') return { looked, situation }
    const { userId } = intent
    const firstId = userTurn(snapshot.state?.values.messages, userId)?.replies[0]?.id
    const checkpointId = firstId === undefined ? undefined : await before(firstId)
    const state = checkpointId && (await engine.readState(snapshot.thread, { checkpointId }))
    const forks =
      state && state.next.length > 0
        ? { beforeAnswer: checkpointId ?? undefined }
        : { beforeMessage: await before(userId) }
    return { looked, situation: { ...situation, ...forks } }
  }
  const isReply =
    intent.kind === 'send' &&
    thread &&
    thread.interrupts.length > 0 &&
    Object(intent.before).role === 'assistant'
  const snapshot = isReply ? await engine.snapshot(at) : undefined
  const earlier = await earlierRun(engine, looked, principal)
  const beforeMessage = isEdit(intent, earlier) ? await before(intent.message.id) : undefined
  const isFree = !thread || beforeMessage !== undefined || typeof earlier === 'object'
  const isAsking = !isFree && (await questionsBeforeInput(engine, thread)).length > 0
  const situation: Situation = { earlier, snapshot, isAsking, beforeMessage }
  return { looked, situation }
}

/** The run that a message has already started. */
async function earlierRun(
  engine: AgentEngine,
  looked: ThreadLook,
  principal: Principal | null,
): Promise<Situation['earlier']> {
  const { thread } = looked
  try {
    const receipt = receiptIn(looked)
    if (!receipt || !('runId' in receipt)) return undefined
    const { runId: answerId } = receipt
    const found = thread && (await engine.findAnswer({ ...thread, principal, thread, answerId }))
    const isOver = !found || found.record.state === 'input-required' || isAnswerEnded(found.record)
    return isOver ? 'over' : receipt
  } catch (error) {
    if (error instanceof RunError && error.code === 'key_reused') return 'of another content'
    throw error
  }
}

/** Starts or reads what was decided. A start is rejected while another answer is active. */
async function open(chat: Chat, looked: ThreadLook, decision: Decision): Promise<OpenAnswer> {
  const { context, call, threadId, common } = chat
  const { engine } = context
  const { principal, signal } = call
  const reading = { threadId, principal, signal, filter: ANSWER_EVENTS, batches: true } as const
  const details = { aiSdk: { userId: decision.turn.userId ?? null } }
  if (decision.kind === 'read') {
    const { answerId, runId, after } = decision
    const answer = await engine.follow({ ...reading, answerId, runId, after })
    if (!answer) throw threadNotFound(threadId)
    return answer
  }
  if (decision.kind === 'answer') {
    const { answers, answerId: id } = decision
    // The thread's own agent has asked.
    const { assistantId: _, ...run } = common
    const link = id !== undefined && { answer: { id, details } }
    return engine.follow({ ...reading, respond: { ...run, ...link, answers, looked } })
  }
  const { messages, checkpointId, isOnce } = decision
  const input = messages && { messages }
  return engine.follow({
    ...reading,
    start: {
      ...common,
      metadata: chat.body.metadata,
      // The page would not see what it waited for.
      multitaskStrategy: 'reject',
      answer: { details },
      input,
      title: titleOf(input),
      checkpointId,
      ...(isOnce && { command: looked.command }),
      looked,
    },
  })
}

/** A message takes effect on its thread once. */
async function keyOf({ id, parts }: SentMessage): Promise<CommandKey> {
  return { key: `ai-sdk:${await uuidOf(id)}`, fingerprint: await uuidOf(parts) }
}
