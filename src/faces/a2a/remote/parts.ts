import type { Message } from '../../../messages/index.ts'
import { filterFields, isRecord } from '../../../messages/record.ts'
import type { Part } from '../model.ts'
import { partsOf } from '../parts/output.ts'
import type { RemoteQuestion } from './reply.ts'

/**
 * What to send to a remote agent for a turn: the user's messages since the last answer or, for a waiting
 * task, since the message with the id `sent`; and as data, all input keys except messages.
 */
export function turnParts(messages: readonly Message[], input: unknown, sent?: string): readonly Part[] {
  const isKnown = ({ role, id }: Message) => role === 'assistant' || (id !== undefined && id === sent)
  const newest = messages.slice(messages.findLastIndex(isKnown) + 1)
  const parts = newest.filter(({ role }) => role === 'user').flatMap(({ content }) => partsOf(content))
  const data = isRecord(input) ? filterFields(input, (key) => key !== 'messages') : {}
  if (Object.keys(data).length > 0) parts.push({ kind: 'data', data })
  return parts
}

/**
 * Answers in the format that the remote agent expects. If it asked with interrupts, in `resume` as on
 * LangGraph's server: a single value, or several with their ids. Otherwise as text.
 */
export function answerParts(
  questions: readonly RemoteQuestion[],
  answers: readonly unknown[],
): readonly Part[] {
  if (questions.every(({ id }) => id === undefined)) return answers.map(wordsOf)
  const resume =
    questions.length === 1 ? answers[0] : questions.map(({ id }, at) => ({ id, value: answers[at] }))
  return [{ kind: 'data', data: { resume } }]
}

function wordsOf(answer: unknown): Part {
  if (isRecord(answer)) return { kind: 'data', data: answer }
  return { kind: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer ?? null) }
}
