import type { OpenInterrupt } from '../../engine/index.ts'
import { encodeMessage, type WireMessage } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { approvalsOf } from '../kit/reading/approvals.ts'
import type { Chunk } from './chunks.ts'
import { type OpenCall, type Shape, toolPart } from './parts.ts'
import type { ChatPart, DataPart } from './ui-message.ts'
import type { SentMessage, SentPart } from './wire.ts'

type Question = Pick<OpenInterrupt, 'id' | 'value'>

/** A question in the form that a page receives it. */
export type OpenQuestion = { readonly question: Question } & (
  | { readonly kind: 'approvals'; readonly requests: readonly ApprovalRequest[] }
  /** A client-side tool that waits for its output. */
  | { readonly kind: 'output'; readonly call: OpenCall }
  | { readonly kind: 'other' }
)

/** One of the decisions that a question needs. */
export interface ApprovalRequest {
  readonly approvalId: string
  readonly call: OpenCall
  /** Whether the call is part of the answer. A subagent's call is not. */
  readonly isShown: boolean
}

/**
 * The questions for the page. A client-side tool requests its output with `interrupt({ toolCallId, … })`.
 *
 * @param calls The answer's calls without a result.
 */
export function openQuestions(
  questions: readonly Question[],
  calls: Iterable<OpenCall>,
  { ofClient }: Shape,
): readonly OpenQuestion[] {
  const waiting = new Map([...calls].map((call) => [call.id, call]))
  return questions.map((question): OpenQuestion => {
    const { id, value } = question
    const requests = approvalsOf(value, waiting.values())?.map(({ index, name, args, callId }) => {
      const approvalId = `${id}:${index}`
      const own = waiting.get(callId ?? '')
      waiting.delete(callId ?? '')
      return { approvalId, call: own ?? { id: approvalId, name, input: args }, isShown: own !== undefined }
    })
    if (requests) return { kind: 'approvals', question, requests }
    // The agent names the call as its model does.
    const named = isRecord(value) ? String(value.toolCallId) : undefined
    const call = [...waiting.values()].findLast(({ id, modelCallId = id }) => modelCallId === named)
    return call && ofClient.has(call.name) ? { kind: 'output', question, call } : { kind: 'other', question }
  })
}

/** The parts of an answer with its open questions. */
export function withQuestions(
  parts: readonly ChatPart[],
  asked: readonly OpenQuestion[],
  shape: Shape,
): ChatPart[] {
  const all = [...parts]
  for (const one of asked) {
    if (one.kind === 'other') all.push(questionPart(one.question, 'pending'))
    if (one.kind !== 'approvals') continue
    for (const { call, approvalId, isShown } of one.requests) {
      const part = toolPart(call, shape, { state: 'approval-requested', approval: { id: approvalId } })
      const at = all.findLastIndex((known) => 'toolCallId' in known && known.toolCallId === call.id)
      if (isShown && at >= 0) all[at] = part
      else all.push(part)
    }
  }
  return all
}

export const questionPart = ({ id, value }: Question, status: 'pending' | 'answered'): DataPart => ({
  type: 'data-interrupt',
  id,
  data: { id, value, status },
})

/** The answers in a page's message. */
export interface Reply {
  /** By question id. */
  readonly answers: Readonly<Record<string, unknown>>
  /** The calls of the answer that the user has rejected. */
  readonly refused: ReadonlySet<string>
  /** Chunks for parts of the page's message that no other event will update. */
  readonly chunks: readonly Chunk[]
}

/**
 * The answers that a page gives: with approvals, with tool outputs, and by question id in `resume`. A
 * question with several decisions counts as answered when all of them are there.
 */
export function replyOf(
  asked: readonly OpenQuestion[],
  message: SentMessage | undefined,
  resume: Readonly<Record<string, unknown>> = {},
): Reply {
  const answers: Record<string, unknown> = {}
  const refused = new Set<string>()
  const chunks: Chunk[] = []
  for (const one of asked) {
    const { id } = one.question
    const answer = Object.hasOwn(resume, id) ? resume[id] : answerTo(one, message)
    if (answer === undefined) continue
    answers[id] = answer
    if (one.kind === 'other') chunks.push(questionPart(one.question, 'answered'))
    if (one.kind !== 'approvals') continue
    for (const { approvalId, call, isShown } of one.requests) {
      const isRefused = responseTo(approvalId, message)?.approved === false
      if (isShown && isRefused) refused.add(call.id)
      else if (isRefused) chunks.push({ type: 'tool-output-denied', toolCallId: call.id })
      // No other event reports the result of a subagent's call.
      else if (!isShown) chunks.push({ type: 'tool-output-available', toolCallId: call.id, output: null })
    }
  }
  return { answers, refused, chunks }
}

/** Undefined if the page has not answered the question completely. */
function answerTo(asked: OpenQuestion, message: SentMessage | undefined): unknown {
  if (asked.kind === 'other') return undefined
  if (asked.kind === 'output') {
    const result = resultOf(asked.call, message)
    if (result?.state === 'output-error') return { error: result.errorText ?? '' }
    return result && (result.output ?? null)
  }
  const decisions = asked.requests.map(({ approvalId }) => decisionOf(responseTo(approvalId, message)))
  return decisions.includes(undefined) ? undefined : { decisions }
}

const responseTo = (approvalId: string, message: SentMessage | undefined): SentPart['approval'] =>
  message?.parts.find(({ approval }) => approval?.id === approvalId)?.approval

function decisionOf({
  approved,
  reason,
}: Partial<NonNullable<SentPart['approval']>> = {}): object | undefined {
  if (approved === undefined) return undefined
  return approved ? { type: 'approve' } : { type: 'reject', ...(reason !== undefined && { message: reason }) }
}

const resultOf = ({ id }: OpenCall, message: SentMessage | undefined): SentPart | undefined =>
  message?.parts.find(
    ({ toolCallId, state }) =>
      toolCallId === id && (state === 'output-available' || state === 'output-error'),
  )

/** The tool messages of client-side calls. Undefined if one is missing. */
export function toolMessages(
  calls: readonly OpenCall[],
  message: SentMessage | undefined,
): readonly WireMessage[] | undefined {
  const messages = calls.map((call) => {
    const result = resultOf(call, message)
    if (!result) return undefined
    const { state, output, errorText = '' } = result
    const isError = state === 'output-error'
    const text = isError ? errorText : typeof output === 'string' ? output : JSON.stringify(output ?? null)
    return encodeMessage({
      role: 'tool',
      name: call.name,
      toolCallId: call.modelCallId ?? call.id,
      content: [{ type: 'text', text }],
      status: isError ? 'error' : 'success',
    })
  })
  return messages.length > 0 && messages.every((one) => one !== undefined) ? messages : undefined
}
