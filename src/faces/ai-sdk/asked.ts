import type { OpenInterrupt } from '../../engine/index.ts'
import { isRecord } from '../../messages/record.ts'
import { approvalsOf } from '../kit/reading/approvals.ts'
import { type OpenCall, type Shape, toolPart } from './parts.ts'
import type { ChatPart, DataPart } from './ui-message.ts'

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
export function askedOf(
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
export function withAsked(
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
