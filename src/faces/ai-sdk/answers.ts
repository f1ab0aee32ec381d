import { encodeMessage, type WireMessage } from '../../messages/index.ts'
import { type OpenQuestion, questionPart } from './asked.ts'
import type { Chunk } from './chunks.ts'
import type { OpenCall } from './parts.ts'
import type { SentMessage, SentPart } from './wire.ts'

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
export function givenAnswers(
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
