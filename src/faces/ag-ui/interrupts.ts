import type { OpenInterrupt } from '../../engine/index.ts'
import { defined, isRecord } from '../../messages/record.ts'
import { type Approval, approvalsOf, promptText, type WaitingCall } from '../kit/reading/approvals.ts'
import type { RunInput } from './wire.ts'

type ResumeEntry = NonNullable<RunInput['resume']>[number]

/** The question id for an agent that has stopped before a node without an interrupt. */
export const BREAKPOINT = 'breakpoint'

/** The open questions in AG-UI's format: at least one. */
export const interruptsOf = (
  questions: readonly OpenInterrupt[],
  calls: readonly WaitingCall[],
): readonly object[] =>
  questions.length > 0
    ? questions.map((question) => interruptOf(question, calls))
    : [{ id: BREAKPOINT, reason: 'confirmation', message: 'The agent has stopped before its next step.' }]

function interruptOf({ id, value }: OpenInterrupt, calls: readonly WaitingCall[]): object {
  const approvals = approvalsOf(value, calls)
  const metadata = { value }
  if (!approvals) return { id, reason: 'input_required', message: promptText(value), metadata }
  const told = approvals.map(({ name, description }) => description ?? `The agent wants to call ${name}.`)
  return {
    id,
    reason: 'tool_call',
    message: told.join('\n'),
    ...(approvals.length === 1 && defined({ toolCallId: approvals[0]!.callId })),
    responseSchema: approvals.length === 1 ? verdictSchema(approvals[0]!) : decisionsSchema(approvals),
    metadata,
  }
}

const verdictSchema = ({ allowedDecisions }: Approval): object => ({
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    ...(allowedDecisions.includes('edit') && { editedArgs: { type: 'object' } }),
    message: { type: 'string', description: 'Why it is not approved.' },
  },
  required: ['approved'],
})

const decisionsSchema = (approvals: readonly Approval[]): object => ({
  type: 'object',
  properties: {
    decisions: {
      type: 'array',
      minItems: approvals.length,
      maxItems: approvals.length,
      items: {
        type: 'object',
        properties: { type: { enum: [...new Set(approvals.flatMap((one) => one.allowedDecisions))] } },
        required: ['type'],
      },
    },
  },
  required: ['decisions'],
})

/**
 * The answers by question id, or undefined if a question has none. Answers to questions that are not open are
 * ignored.
 */
export function answersTo(
  questions: readonly OpenInterrupt[],
  resume: readonly ResumeEntry[],
): Readonly<Record<string, unknown>> | undefined {
  const entries = new Map(resume.map((entry) => [entry.interruptId, entry]))
  const answers = questions.map(({ id, value }) => [id, entries.get(id), value] as const)
  if (answers.some(([, entry]) => !entry)) return undefined
  return Object.fromEntries(answers.map(([id, entry, value]) => [id, answerOf(entry!, value)]))
}

/**
 * The agent's resume value: the payload, or the decisions that it stands for. A dismissed question is
 * rejected, or answered with null.
 */
function answerOf({ status, payload }: ResumeEntry, question: unknown): unknown {
  const approvals = approvalsOf(question)
  if (!approvals) return status === 'cancelled' ? null : (payload ?? null)
  if (status === 'cancelled') return { decisions: approvals.map(() => ({ type: 'reject' })) }
  if (Array.isArray(payload)) return { decisions: payload }
  const { approved = payload ?? true, editedArgs, message } = isRecord(payload) ? payload : {}
  if (typeof approved !== 'boolean') return payload
  return {
    decisions: approvals.map(({ name }) => {
      if (!approved) return { type: 'reject', ...(typeof message === 'string' && { message }) }
      if (!isRecord(editedArgs)) return { type: 'approve' }
      return { type: 'edit', editedAction: { name, args: editedArgs } }
    }),
  }
}
