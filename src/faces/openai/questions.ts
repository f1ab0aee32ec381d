import type { OpenInterrupt } from '../../engine/index.ts'
import { isRecord } from '../../messages/record.ts'
import { approvalsOf } from '../kit/reading/approvals.ts'
import { badRequest } from './errors.ts'
import type { GivenAnswer } from './input.ts'

/** A question as the agent asked it. */
export interface Question {
  readonly id: string
  readonly value: unknown
}

/** The arguments of the function call that asks a question: an object, as models write them. */
export const argumentsOf = ({ value }: Question): string =>
  JSON.stringify(isRecord(value) ? value : { question: value })

/** A question as text, for clients that show nothing else. */
export function questionText({ value }: Question): string {
  const actions = approvalsOf(value)
  if (!actions) return typeof value === 'string' ? value : sentenceIn(value)
  const lines = actions.map(
    ({ name, args, description }) => description ?? `May I run \`${name}\` with \`${JSON.stringify(args)}\`?`,
  )
  return [...lines, 'Answer "approve" or "reject".'].join('\n\n')
}

function sentenceIn(value: unknown): string {
  const { question, message } = Object(value) as Readonly<Record<string, unknown>>
  const [sentence] = [question, message].filter((one) => typeof one === 'string')
  return sentence ?? `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}

/** The answer to a question. Undefined if it must be a decision and is not one. */
export function answerIn({ value }: Question, given: unknown): { readonly answer: unknown } | undefined {
  const actions = approvalsOf(value)
  if (!actions) return { answer: given }
  if (isRecord(given) && Array.isArray(given.decisions)) return { answer: given }
  if (Array.isArray(given)) return { answer: { decisions: given } }
  const word = isRecord(given) ? (given.approve ?? given.approved ?? given.decision ?? given.type) : given
  const decision = decisionIn(String(word))
  return decision && { answer: { decisions: actions.map(() => decision) } }
}

const APPROVED = /^(approved?|yes|y|ok(ay)?|allow|confirm|true)[.!]*$/i
const REJECTED = /^(rejected?|no|n|den(y|ied)|decline|cancel|false)\b[.:,!]*\s*/i

function decisionIn(text: string) {
  const word = text.trim()
  if (APPROVED.test(word)) return { type: 'approve' }
  if (!REJECTED.test(word)) return undefined
  const message = word.replace(REJECTED, '')
  return { type: 'reject', ...(message !== '' && { message }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A client's answers by question id. Throws 400 if they do not match the thread's open questions. */
export function answersTo(
  given: readonly GivenAnswer[],
  open: readonly OpenInterrupt[],
): Readonly<Record<string, unknown>> {
  const ids = new Set(given.map(({ questionId }) => questionId))
  return Object.fromEntries(
    [...ids].map((id) => {
      const question = open.find((one) => one.id === id)
      if (!question)
        throw badRequest('The question is not open any more: it was answered, or the conversation went on.')
      const answer = answerOf(
        question,
        given.filter(({ questionId }) => questionId === id),
      )
      if (answer) return [id, answer.answer]
      throw badRequest(
        'The answer to a question about actions is "approve", "reject" or { decisions: [{ type }] }.',
      )
    }),
  )
}

function answerOf(question: OpenInterrupt, given: readonly GivenAnswer[]) {
  const last = given.at(-1)!.given
  if ('text' in last) return answerIn(question, parsed(last.text))
  const actions = approvalsOf(question.value) ?? []
  const decisions = actions.map(({ index }) => {
    const found = given.find((one) => 'action' in one.given && one.given.action === index)?.given
    if (!found || !('action' in found)) return undefined
    const { approve, reason } = found
    return approve ? { type: 'approve' } : { type: 'reject', ...(reason && { message: reason }) }
  })
  if (decisions.includes(undefined))
    throw badRequest('input: answer all requests for approval of a response at once.')
  return { answer: { decisions } }
}
