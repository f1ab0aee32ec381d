import { HttpError } from '../../core/http/index.ts'
import { currentRun, isAnswerEnded, type RunReceipt, type ThreadSnapshot } from '../../engine/index.ts'
import type { WireMessage } from '../../messages/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { readBy } from '../kit/body.ts'
import { type Intent, invalid, userMessage } from './intent.ts'
import { lastTurn, openCalls, type Shape, type Turn, turnsOf } from './parts.ts'
import { openQuestions, type Reply, replyOf, toolMessages } from './questions.ts'
import { messageSchema, type SentMessage } from './wire.ts'

/** The thread that a request meets, as it was read. What an intent does not need is not read. */
export interface Situation {
  /** What the message has started before: a run to read, one that is over, or one with another content. */
  readonly earlier?: RunReceipt | 'over' | 'of another content' | undefined
  readonly snapshot?: Pick<ThreadSnapshot, 'state' | 'questions' | 'answer'> | undefined
  /** Whether a new input would drop open questions. */
  readonly isAsking: boolean
  /** The checkpoint before the user's message. Null if it was the first. */
  readonly beforeMessage?: string | null | undefined
  /** The checkpoint that has the user's message, no answer to it, and a next step. */
  readonly beforeAnswer?: string | undefined
}

/** What a request starts or reads, and the turn that its answer continues. */
export type Decision = { readonly turn: Pick<Turn, 'userId' | 'replies'> } & (
  | {
      readonly kind: 'start'
      /** Null to continue at the checkpoint without an input. */
      readonly messages: readonly WireMessage[] | null
      readonly checkpointId?: string | null | undefined
      /** The same message starts no second run. */
      readonly isOnce?: boolean
    }
  | (Reply & { readonly kind: 'answer'; readonly answerId: string | undefined })
  | {
      readonly kind: 'read'
      readonly answerId: string
      readonly runId: string
      readonly after?: number | undefined
    }
)

interface Page {
  readonly shape: Shape
  /** Answers to questions, by id. */
  readonly resume?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Decides what a request starts. Throws 400 for what the thread does not have, and 409 for open questions that
 * the request does not answer, or if there is nothing to continue.
 */
export function decide(situation: Situation, intent: Intent, page: Page): Decision {
  switch (intent.kind) {
    case 'send':
      return decideSend(situation, intent, page)
    case 'edit':
      return decideEdit(situation, intent.message)
    case 'regenerate':
      return decideRegenerate(situation, intent.userId)
    case 'continue':
      return decideContinue(situation, intent.message, page)
  }
}

/** Whether a message replaces the one with its id. Not every page says so. */
export const isEdit = (intent: Intent, earlier: Situation['earlier']): boolean =>
  intent.kind === 'edit' || typeof earlier === 'string'

/**
 * If a page sends a message again while it is being answered, after a lost connection, it gets the first answer.
 * Some pages send approvals and results only with the next message: these answer the open questions first.
 */
function decideSend(
  situation: Situation,
  { message, before }: Intent & { readonly kind: 'send' },
  page: Page,
): Decision {
  const { earlier, snapshot } = situation
  if (snapshot && snapshot.questions.length > 0) {
    const sent = readBy(messageSchema, before, (why) => invalid(`messages.${why}`))
    const reply = replyTo(snapshot, sent, page)
    if (Object.keys(reply.answers).length === snapshot.questions.length) return reply
  }
  if (isEdit({ kind: 'send', message, before }, earlier)) return decideEdit(situation, message)
  const turn = { userId: message.id, replies: [] }
  if (typeof earlier !== 'object')
    return { ...startUnasked(situation, turn, [userMessage(message)]), isOnce: true }
  const { runId, appliedThroughSeq: after } = earlier
  return { kind: 'read', turn, answerId: runId, runId, after }
}

/** A page also sends a message in this way if it was rejected or never reached a state. */
function decideEdit(situation: Situation, message: SentMessage): Decision {
  const turn = { userId: message.id, replies: [] }
  const messages = [userMessage(message)]
  const { beforeMessage: checkpointId } = situation
  if (checkpointId === undefined) return startUnasked(situation, turn, messages)
  return { kind: 'start', turn, messages, checkpointId }
}

/**
 * The run continues from the state that has the message but no answer to it. If no such state has a next step,
 * the message is sent again.
 */
function decideRegenerate({ snapshot, beforeAnswer, beforeMessage }: Situation, userId: string): Decision {
  const messages = snapshot?.state?.values.messages
  if (!userTurn(messages, userId)) throw invalid('messages: the thread has no user message with this id')
  const turn = { userId, replies: [] }
  if (beforeAnswer !== undefined) return { kind: 'start', turn, messages: null, checkpointId: beforeAnswer }
  if (beforeMessage === undefined) throw invalid('messages: the thread has no state from before this message')
  const sent = itemsOf(messages).filter((one) => Object(one).id === userId) as WireMessage[]
  return { kind: 'start', turn, messages: sent.slice(0, 1), checkpointId: beforeMessage }
}

/** The turn of a user message that a state has. */
export const userTurn = (messages: unknown, userId: string): Turn | undefined =>
  turnsOf(messages).find((turn) => turn.user && turn.userId === userId)

function decideContinue(situation: Situation, message: SentMessage | undefined, page: Page): Decision {
  const snapshot = situation.snapshot!
  const { questions, answer } = snapshot
  const reply = replyTo(snapshot, message, page)
  if (Object.keys(reply.answers).length > 0) return reply
  if (questions.length > 0)
    throw new HttpError(409, 'unanswered', 'The assistant has open questions. Answer all of them.')
  const { turn } = reply
  // Another page, or an earlier request of the same page, has already answered.
  if (answer && !isAnswerEnded(answer))
    return { kind: 'read', turn, answerId: answer.taskId, runId: currentRun(answer) }
  // A stopped call of a tool that the agent runs itself gets no result from a page.
  const ofPage = openCalls(turn.replies).filter(({ name }) => page.shape.ofClient.has(name))
  const results = toolMessages(ofPage, message)
  if (!results) throw new HttpError(409, 'nothing_to_do', 'There is no answer to continue: send a message.')
  return startUnasked(situation, turn, results)
}

function replyTo(
  { state, questions, answer }: NonNullable<Situation['snapshot']>,
  message: SentMessage | undefined,
  { shape, resume }: Page,
): Decision & { readonly kind: 'answer'; readonly turn: Turn } {
  const turn = lastTurn(state?.values.messages)
  const asked = openQuestions(questions, openCalls(turn.replies), shape)
  return { kind: 'answer', turn, answerId: answer?.taskId, ...replyOf(asked, message, resume) }
}

/** An input while a question is open would drop the question and leave calls without results in the state. */
function startUnasked(
  { isAsking }: Situation,
  turn: Decision['turn'],
  messages: readonly WireMessage[],
): Decision & { readonly kind: 'start' } {
  if (isAsking) throw new HttpError(409, 'unanswered', 'The assistant has an open question. Answer it first.')
  return { kind: 'start', turn, messages }
}
