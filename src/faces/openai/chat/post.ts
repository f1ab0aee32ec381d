import { json, SSE_HEADERS } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import {
  internalsOf,
  lookAtThread,
  openQuestions,
  questionsBeforeInput,
  retryConflicts,
  type ThreadLook,
  type ThreadRecord,
} from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import {
  type Admitted,
  admit,
  createdAtOf,
  forkAfter,
  modelOf,
  ownThread,
  readCalls,
  type StartedRun,
  startedBefore,
  startRun,
} from '../begin.ts'
import { decideChat, hasResults, NEW, newMessages, type Situation } from '../decide.ts'
import { failedRun } from '../errors.ts'
import { type Input, readChat } from '../input.ts'
import type { OpenAiContext } from '../options.ts'
import { readRun, streamRun } from '../read.ts'
import { clientToolsOf } from '../request.ts'
import type { ChatBody } from '../wire.ts'
import { chatThreadOf, digestsOf, knownTurn, putTurn, type TurnDigest } from './threads.ts'
import { type ChatHead, createChatWriter } from './writer.ts'

/** The details that this face stores with the run of a completion. */
interface ChatDetails {
  readonly object: 'chat.completion'
  readonly request: string
  readonly after: string | null
  readonly isKept: boolean
}

/** A permitted request, with all that its decision needs besides the thread. */
interface Chat extends Admitted {
  readonly body: ChatBody
  readonly given: Input
  readonly digests: readonly TurnDigest[]
  /** The thread that the client names, by its answers or as its chat. */
  readonly named: string | undefined
  /** Whether the client names a chat. */
  readonly isOfChat: boolean
  readonly isOfUi: boolean
}

/** `POST /v1/chat/completions`. */
export async function postChat(context: OpenAiContext, asked: FaceCall<ChatBody>): Promise<Response> {
  const { body } = asked
  const given = readChat(body.messages)
  const model = await modelOf(context, withoutMetadataFilter(asked.principal), body.model)
  const digests = await digestsOf(given.turns)
  const thread = await chatThreadOf(asked, body, model.assistant?.assistantId ?? model.graphId, given.turns)
  const named = given.answers[0]?.threadId ?? thread?.threadId
  const admitted = await admit(context, asked, body.model, model, named)
  const isOfUi = thread?.isOfUi ?? false
  const isOfChat = thread !== undefined
  const chat: Chat = { ...admitted, body, given, digests, named, isOfChat, isOfUi }
  return respondTo(chat, await retryConflicts(() => begin(chat)))
}

/** A run to read, or a question to ask again. */
type Begun = {
  readonly threadId: string
  readonly isKept: boolean
  /** The last message of the run's input. Null if an earlier request has started the run. */
  readonly after: string | null
} & ({ readonly run: StartedRun } | { readonly question: string })

/** Looks at the thread, decides, and starts. */
async function begin(chat: Chat): Promise<Begun> {
  const { context, principal, command, request, body, given, digests, named, isOfUi } = chat
  const own = named === undefined
  const { threadId, look } = own
    ? await ownThread(chat)
    : { threadId: named, look: await lookAtThread(context.engine, { threadId: named, principal, command }) }
  const isKept = await isKeptThread(chat, own ? undefined : look?.thread)
  const earlier = await startedBefore(chat, look)
  if (earlier) return { threadId, isKept, after: null, run: earlier }
  const situation = own ? NEW : await situationOf(chat, look!)
  const decision = decideChat(given, isOfUi, situation)
  if (decision.kind === 'ask') return { threadId, isKept, after: null, question: decision.question }
  const runId = uuid7()
  const after = decision.messages.at(-1)?.id ?? null
  const details: ChatDetails = { object: 'chat.completion', request, after, isKept }
  const turn = own ? undefined : digests.at(-1)
  const extraOps = turn ? putTurn(turn, runId) : []
  const clientTools = clientToolsOf(body)
  const order = { threadId, look, decision, clientTools, details, isKept, runId, extraOps }
  return { threadId, isKept, after, run: await startRun(chat, order) }
}

/** Reads what the decision about a chat needs. */
async function situationOf(chat: Chat, { thread }: ThreadLook): Promise<Situation> {
  const { given, digests, isOfUi } = chat
  if (!thread) return NEW
  const { engine } = chat.context
  const { answers, turns } = given
  if (answers.length > 0) return { ...NEW, thread, questions: await openQuestions(engine, thread) }
  const known = await knownTurn(internalsOf(engine).store, thread.threadId, turns, digests)
  const fork = known && (await forkAfter(engine, thread, known.runId))
  const found = { ...NEW, thread, knownTurn: known?.at, fork }
  const isNewest = known !== undefined && fork === undefined
  const questions = isNewest ? await questionsBeforeInput(engine, thread) : []
  const hasCalls = hasResults(newMessages(given, isOfUi, found))
  const calls = hasCalls && (await readCalls(chat, thread, fork, known?.runId))
  return { ...found, questions, ...calls }
}

async function respondTo(chat: Chat, begun: Begun): Promise<Response> {
  const { context, call, command, body, isOfUi } = chat
  const { threadId, isKept, after } = begun
  const head: Omit<ChatHead, 'runId' | 'createdAt'> = {
    threadId,
    model: body.model,
    clientTools: clientToolsOf(body),
    asksInText: isOfUi,
    questionTool: context.options.questionTool ?? 'interrupt',
    after,
    includeUsage: body.stream_options?.include_usage ?? false,
  }
  if ('question' in begun) return askAgain(head, body, begun.question)
  const { run } = begun
  const writer = createChatWriter({ ...head, ...timesOf(run.runId) })
  const stays = isKept || command !== undefined
  const leaving = { cancels: context.options.cancelOnLeave ?? true, removes: !stays }
  if (body.stream) return streamRun(context, call, run, writer, leaving)
  await readRun(context, call, run, writer, leaving)
  const { end } = writer
  if (end?.status === 'failed') return failedRun(500, 'run_failed', end.error)
  if (end?.status === 'canceled') return failedRun(409, 'run_cancelled', end.error)
  return json(writer.completion())
}

const timesOf = (runId: string) => ({ runId, createdAt: createdAtOf(runId) })

/**
 * Whether the thread of a request is kept. If the client names no thread, the thread is deleted unless it
 * waits for an answer.
 */
async function isKeptThread(
  { context: { engine }, principal, isOfChat }: Chat,
  thread: ThreadRecord | undefined,
): Promise<boolean> {
  if (isOfChat || !thread?.lastRunId) return isOfChat
  const run = await engine.getRun({ threadId: thread.threadId, principal, runId: thread.lastRunId })
  return (run?.details as ChatDetails | undefined)?.isKept !== false
}

/** Repeats the questions without a run, because nothing has changed. */
async function askAgain(
  head: Omit<ChatHead, 'runId' | 'createdAt'>,
  { stream }: ChatBody,
  text: string,
): Promise<Response> {
  const runId = uuid7()
  const writer = createChatWriter({ ...head, ...timesOf(runId) })
  const message = { id: runId, owner: null, node: undefined }
  const at = { seq: 0, timestamp: 0, runId }
  const frames = [
    writer.begin(),
    writer.push({ ...at, type: 'textDelta', message, index: 0, text }),
    writer.push({ ...at, type: 'runEnd', status: 'completed', error: undefined }),
    'data: [DONE]\n\n',
  ]
  if (!stream) return json(writer.completion())
  return new Response(frames.join(''), { headers: SSE_HEADERS })
}
