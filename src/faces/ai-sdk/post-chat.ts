import { HttpError } from '../../core/http/index.ts'
import { uuidOf } from '../../core/ids.ts'
import {
  type CommandKey,
  currentRun,
  internalsOf,
  isAnswerEnded,
  lookAtThread,
  questionsBeforeInput,
  RunError,
  type RunReceipt,
  type RunRequest,
  receiptIn,
  retryConflicts,
  type ThreadLook,
  type ThreadRecord,
  type ThreadSnapshot,
} from '../../engine/index.ts'
import type { WireMessage } from '../../messages/index.ts'
import { permit } from '../kit/access.ts'
import { namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { bodyOf, readBy } from '../kit/body.ts'
import { withClientTools } from '../kit/client-tools.ts'
import { isThreadId } from '../kit/ids.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import { threadNotFound } from '../kit/require-thread.ts'
import type { FaceCall } from '../kit/routes.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import { type Intent, intentOf, invalid, userMessage } from './intent.ts'
import type { AiSdkContext } from './options.ts'
import { lastTurn, type OpenCall, openCalls, replyId, type Turn, turnsOf } from './parts.ts'
import { openQuestions, type Reply, replyOf, toolMessages } from './questions.ts'
import { chunkResponse, type Followed, followOn, type OpenAnswer } from './stream.ts'
import { type ChatBody, chatSchema, messageSchema, type SentMessage } from './wire.ts'
import { createChunkWriter } from './writer.ts'

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

async function begin(chat: Chat): Promise<Followed> {
  const intent: Intent = intentOf(chat.body)
  switch (intent.kind) {
    case 'send':
      return send(chat, intent.message, intent.before)
    case 'edit':
      return edit(chat, intent.message)
    case 'regenerate':
      return regenerate(chat, intent.userId)
    case 'continue':
      return continueAnswer(chat, intent.message)
  }
}

/**
 * Sends a message. If a page sends the same message again while it is being answered, after a lost
 * connection, no second run starts: the page receives the first one. After the answer has ended, the same
 * message means an edit or a regeneration, because not every page says which.
 */
async function send(chat: Chat, message: SentMessage, before: unknown): Promise<Followed> {
  const { threadId, call } = chat
  const { engine } = chat.context
  const { principal } = call
  const query = { threadId, principal, command: await keyOf(message) }
  return retryConflicts(async () => {
    const first = await lookAtThread(engine, query)
    const isAnswered = first.thread && (await answerFirst(chat, first.thread, before))
    const look = isAnswered ? await lookAtThread(engine, query) : first
    const receipt = receiptOf(look)
    if (!receipt) {
      await refuseQuestions(chat, look)
      const input = inputOf(userMessage(message))
      return start(chat, message.id, { ...input, command: query.command, looked: look })
    }
    if (receipt === 'of another content') return edit(chat, message)
    const { runId, appliedThroughSeq: after } = receipt
    const answer = await engine.follow({ ...reading(chat), answerId: runId, runId, after })
    if (!answer || answer.end) return edit(chat, message)
    return begun(chat, answer, { userId: message.id, replies: [] })
  })
}

/**
 * Answers the open questions with the approvals and results in the page's copy of the assistant's message,
 * and waits for the rest of that answer. Some pages only send these with the user's next message.
 */
async function answerFirst(chat: Chat, thread: ThreadRecord, before: unknown): Promise<boolean> {
  if (thread.interrupts.length === 0 || Object(before).role !== 'assistant') return false
  const given = await givenBy(
    chat,
    readBy(messageSchema, before, (why) => invalid(`messages.${why}`)),
  )
  const { questions } = given.snapshot
  if (questions.length === 0 || Object.keys(given.answers).length < questions.length) return false
  await (await respond(chat, given)).ended()
  return true
}

/** The run that the message has already started. */
function receiptOf(look: ThreadLook): RunReceipt | 'of another content' | undefined {
  try {
    const receipt = receiptIn(look)
    return receipt && 'runId' in receipt ? receipt : undefined
  } catch (error) {
    if (error instanceof RunError && error.code === 'key_reused') return 'of another content'
    throw error
  }
}

async function edit(chat: Chat, message: SentMessage): Promise<Followed> {
  const { principal } = chat.call
  const place = { threadId: chat.threadId, principal, messageId: message.id }
  const checkpointId = await chat.context.engine.checkpointBefore(place)
  const input = inputOf(userMessage(message))
  // A page also resends a message in this way if it was rejected or never reached a state.
  if (checkpointId !== undefined) return start(chat, message.id, { ...input, checkpointId })
  return begun(chat, await startUnasked(chat, message.id, input), { userId: message.id, replies: [] })
}

/**
 * The run continues from the state that has the message but no answer to it. If no state has a next step, the
 * message is sent again.
 */
async function regenerate(chat: Chat, userId: string): Promise<Followed> {
  const { engine } = chat.context
  const { threadId, call } = chat
  const { principal } = call
  const snapshot = await snapshotOf(chat)
  const turn = turnsOf(snapshot.state?.values.messages).find((one) => one.userId === userId)
  if (!turn?.user) throw invalid('messages: the thread has no user message with this id')
  const firstId = turn.replies[0]?.id
  if (firstId !== undefined) {
    const checkpointId = await engine.checkpointBefore({ threadId, principal, messageId: firstId })
    const before = checkpointId ? await engine.readState(snapshot.thread, { checkpointId }) : undefined
    if (checkpointId && before && before.next.length > 0)
      return start(chat, userId, { input: null, checkpointId })
  }
  const checkpointId = await engine.checkpointBefore({ threadId, principal, messageId: userId })
  if (checkpointId === undefined) throw invalid('messages: the thread has no state from before this message')
  const raw = (snapshot.state!.values.messages as readonly WireMessage[]).find(({ id }) => id === userId)!
  return start(chat, userId, { ...inputOf(raw), checkpointId })
}

async function continueAnswer(chat: Chat, message: SentMessage | undefined): Promise<Followed> {
  const { engine } = chat.context
  const given = await givenBy(chat, message)
  const { turn, calls, snapshot } = given
  const { questions, answer } = snapshot
  if (Object.keys(given.answers).length > 0) return begun(chat, await respond(chat, given), turn, given)
  if (questions.length > 0)
    throw new HttpError(409, 'unanswered', 'The assistant has open questions. Answer all of them.')
  if (answer && !isAnswerEnded(answer)) {
    // Another page, or an earlier request of the same page, has already answered.
    const asked = { ...reading(chat), answerId: answer.taskId, runId: currentRun(answer) }
    const followed = await engine.follow(asked)
    if (followed) return begun(chat, followed, turn)
  }
  // A stopped call of a tool that the agent runs itself gets no result from a page.
  const ofPage = calls.filter(({ name }) => chat.context.shape.ofClient.has(name))
  const results = toolMessages(ofPage, message)
  if (!results) throw new HttpError(409, 'nothing_to_do', 'There is no answer to continue: send a message.')
  return begun(chat, await startUnasked(chat, turn.userId, { input: { messages: results } }), turn)
}

/** What a page's message answers, with the turn that has asked. */
interface GivenHere extends Reply {
  readonly snapshot: ThreadSnapshot
  readonly turn: Turn
  /** The calls without a result. */
  readonly calls: readonly OpenCall[]
}

async function givenBy(chat: Chat, message: SentMessage | undefined): Promise<GivenHere> {
  const snapshot = await snapshotOf(chat)
  const turn = lastTurn(snapshot.state?.values.messages)
  const calls = openCalls(turn.replies)
  const asked = openQuestions(snapshot.questions, calls, chat.context.shape)
  return { ...replyOf(asked, message, chat.body.resume), snapshot, turn, calls }
}

function respond(chat: Chat, { answers, snapshot: { answer }, turn }: GivenHere): Promise<OpenAnswer> {
  const { assistantId: _, ...run } = chat.common
  const link = answer && { answer: { id: answer.taskId, details: detailsOf(turn.userId) } }
  return chat.context.engine.follow({ ...reading(chat), respond: { ...run, ...link, answers } })
}

async function snapshotOf({ context, call, threadId }: Chat): Promise<ThreadSnapshot> {
  const snapshot = await context.engine.snapshot({ threadId, principal: call.principal })
  if (!snapshot) throw threadNotFound(threadId)
  return snapshot
}

const start = async (chat: Chat, userId: string, request: Partial<RunRequest>): Promise<Followed> =>
  begun(chat, await startRun(chat, userId, request), { userId, replies: [] })

/**
 * Starts an answer. It is rejected while another answer is active, because the page would not see what it
 * waited for.
 */
function startRun(chat: Chat, userId: string | undefined, request: Partial<RunRequest>): Promise<OpenAnswer> {
  const { engine } = chat.context
  return engine.follow({
    ...reading(chat),
    start: {
      ...chat.common,
      metadata: chat.body.metadata,
      multitaskStrategy: 'reject',
      answer: { details: detailsOf(userId) },
      ...request,
    },
  })
}

/** Starts an answer on a thread without open questions. */
function startUnasked(
  chat: Chat,
  userId: string | undefined,
  request: Partial<RunRequest>,
): Promise<OpenAnswer> {
  const { engine } = chat.context
  const query = { threadId: chat.threadId, principal: chat.call.principal, saved: false }
  return retryConflicts(async () => {
    const looked = await lookAtThread(engine, query)
    await refuseQuestions(chat, looked)
    return startRun(chat, userId, { ...request, looked })
  })
}

const inputOf = (message: WireMessage): Pick<RunRequest, 'input' | 'title'> => {
  const input = { messages: [message] }
  return { input, title: titleOf(input) }
}

/**
 * A message sent while a question is open would drop the question and leave calls without results in the
 * state.
 */
async function refuseQuestions({ context: { engine } }: Chat, { thread }: ThreadLook): Promise<void> {
  if (thread && (await questionsBeforeInput(engine, thread)).length > 0)
    throw new HttpError(409, 'unanswered', 'The assistant has an open question. Answer it first.')
}

/** The details stored with an answer: the user message that it answers. */
const detailsOf = (userId: string | undefined) => ({ aiSdk: { userId: userId ?? null } })

/** The options for reading an answer. */
const reading = ({ threadId, call: { principal, signal } }: Chat) =>
  ({ threadId, principal, signal, filter: ANSWER_EVENTS, batches: true }) as const

function begun(
  { context: { shape } }: Chat,
  answer: OpenAnswer,
  { userId, replies }: Pick<Turn, 'userId' | 'replies'>,
  given?: Pick<Reply, 'refused' | 'chunks'>,
): Followed {
  const writer = createChunkWriter(shape, given?.refused)
  const first = [...writer.begin(replyId(userId), replies, true), ...(given?.chunks ?? [])]
  return { answer, follower: followOn(writer, first) }
}

/** A message takes effect on its thread once. */
async function keyOf({ id, parts }: SentMessage): Promise<CommandKey> {
  return { key: `ai-sdk:${await uuidOf(id)}`, fingerprint: await uuidOf(parts) }
}
