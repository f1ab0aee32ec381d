import { json, SSE_HEADERS } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import {
  internalsOf,
  lookAtThread,
  questionsBeforeInput,
  retryConflicts,
  type ThreadLook,
} from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import {
  admit,
  beginRun,
  createdAtOf,
  modelOf,
  placeAfter,
  placeOfOwn,
  type StartedRun,
  type StartPosition,
  startedBefore,
} from '../begin.ts'
import { plainText, withoutTemplate } from '../content.ts'
import { failedRun } from '../errors.ts'
import { type Input, readChat } from '../input.ts'
import type { OpenAiContext } from '../options.ts'
import { answerIn, questionText } from '../questions.ts'
import { readRun, streamRun } from '../read.ts'
import { clientToolsOf } from '../request.ts'
import type { ChatBody } from '../wire.ts'
import { type ChatThread, chatThreadOf, digestsOf, knownTurn, putTurn, type TurnDigest } from './threads.ts'
import { type ChatHead, createChatWriter } from './writer.ts'

/** The details that this face stores with the run of a completion. */
interface ChatDetails {
  readonly object: 'chat.completion'
  readonly request: string
  readonly after: string | null
  readonly isKept: boolean
}

/** `POST /v1/chat/completions`. */
export async function postChat(context: OpenAiContext, asked: FaceCall<ChatBody>): Promise<Response> {
  const { body } = asked
  const given = readChat(body.messages)
  const model = await modelOf(context, withoutMetadataFilter(asked.principal), body.model)
  const digests = await digestsOf(given.turns)
  const chat = await chatThreadOf(asked, body, model.assistant?.assistantId ?? model.graphId, given.turns)
  const named = given.answers[0]?.threadId ?? chat?.threadId
  const { call, principal, metadata, command, request } = await admit(
    context,
    asked,
    body.model,
    model,
    named,
  )
  const started = await retryConflicts(async () => {
    const look =
      named === undefined
        ? undefined
        : await lookAtThread(context.engine, { threadId: named, principal, command })
    const order = look
      ? await orderFor(context, { given, digests, chat, look, threadId: named! })
      : { place: await placeOfOwn(context, call, { command, request }), input: given }
    const isKept = await isKeptThread(context, call, chat, look)
    const { place, input, asksAgain, turn } = order
    const head: Omit<ChatHead, 'runId' | 'createdAt'> = {
      threadId: place.threadId,
      model: body.model,
      clientTools: clientToolsOf(body),
      asksInText: chat?.isOfUi ?? false,
      questionTool: context.options.questionTool ?? 'interrupt',
      after: input.messages.at(-1)?.id ?? null,
      includeUsage: body.stream_options?.include_usage ?? false,
    }
    if (asksAgain !== undefined) return { head, asksAgain }
    const runId = uuid7()
    const details: ChatDetails = { object: 'chat.completion', request, after: head.after, isKept }
    const begun =
      (await startedBefore(context, call, place.look?.thread, request)) ??
      (await beginRun({
        context,
        call,
        model,
        place,
        input,
        clientTools: head.clientTools,
        details,
        isKept,
        command,
        metadata,
        runId,
        ...(turn !== undefined && { extraOps: putTurn(turn, runId) }),
      }))
    return { head, begun, isKept }
  })
  const { head, asksAgain, begun, isKept } = started
  if (asksAgain !== undefined) return askAgain(head, body, asksAgain)
  return answered(context, call, body, begun, { ...head, ...whenOf(begun) }, isKept || command !== undefined)
}

const whenOf = ({ runId }: StartedRun) => ({ runId, createdAt: createdAtOf(runId) })

async function answered(
  context: OpenAiContext,
  call: FaceCall,
  { stream }: ChatBody,
  begun: StartedRun,
  head: ChatHead,
  stays: boolean,
): Promise<Response> {
  const writer = createChatWriter(head)
  const leaving = { cancels: context.options.cancelOnLeave ?? true, removes: !stays }
  if (stream) return streamRun(context, call, begun, writer, leaving)
  await readRun(context, call, begun, writer, leaving)
  const { end } = writer
  if (end?.status === 'failed') return failedRun(500, 'run_failed', end.error)
  if (end?.status === 'canceled') return failedRun(409, 'run_cancelled', end.error)
  return json(writer.completion())
}

/** How a request continues a thread. */
interface ChatOrder {
  readonly place: StartPosition
  readonly input: Pick<Input, 'messages' | 'answers'>
  /** The digest of its turn, if the client sends the whole history. */
  readonly turn?: TurnDigest | undefined
  /** The question that the text does not answer. */
  readonly asksAgain?: string | undefined
}

/**
 * Compares the client's history with the thread's turns. A request after a known turn continues from there,
 * or forks if something came after it: an edit or a regeneration. What is not known goes on from the last
 * turn that is. Without any, a UI's first message starts the thread again, and a program that names a thread
 * adds its last messages.
 */
async function orderFor(
  context: OpenAiContext,
  {
    given,
    digests,
    chat,
    look,
    threadId,
  }: {
    readonly given: Input
    readonly digests: readonly TurnDigest[]
    readonly chat: ChatThread | undefined
    readonly look: ThreadLook
    readonly threadId: string
  },
): Promise<ChatOrder> {
  const { messages, answers, turns } = given
  const { thread } = look
  const here: StartPosition = { threadId, look }
  const turn = digests.at(-1)
  if (answers.length > 0) return { place: here, input: given, turn }
  const lastSpoken = messages.findLastIndex(({ type }) => type === 'ai')
  // A program that names a thread may send only its new messages.
  if (!chat?.isOfUi && lastSpoken < 0) return { place: here, input: given, turn }
  const { store } = internalsOf(context.engine)
  const known = thread && (await knownTurn(store, threadId, turns, digests))
  if (!thread || (!known && !thread.lastRunId)) return { place: here, input: given, turn }
  if (!known && !chat?.isOfUi)
    return { place: here, input: { messages: messages.slice(lastSpoken + 1), answers: [] }, turn }
  if (!known) return { place: { ...here, checkpointId: null }, input: given, turn }
  const place = await placeAfter(context, { ...look, thread }, known.runId)
  const input = { messages: messages.slice(turns[known.at + 1]!.at), answers: [] }
  const [question] =
    place.checkpointId === undefined ? await questionsBeforeInput(context.engine, thread) : []
  if (!question) return { place, input, turn }
  const text = input.messages.map(({ content }) => saidIn(content)).join('\n')
  if (!answerIn(question, text)) return { place, input, asksAgain: questionText(question) }
  // As JSON, so that the text itself is the answer.
  const answer = { threadId, questionId: question.id, given: { text: JSON.stringify(text) } }
  return { place, input: { messages: [], answers: [answer] }, turn }
}

const saidIn = (content: unknown): string => plainText(withoutTemplate(content))

/**
 * Whether the thread of a request is kept. If the client names no thread, the thread is deleted unless it
 * waits for an answer.
 */
async function isKeptThread(
  { engine }: OpenAiContext,
  { principal }: FaceCall,
  chat: ChatThread | undefined,
  look: ThreadLook | undefined,
): Promise<boolean> {
  const thread = look?.thread
  if (chat || !thread?.lastRunId) return chat !== undefined
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
  const writer = createChatWriter({ ...head, runId, createdAt: createdAtOf(runId) })
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
