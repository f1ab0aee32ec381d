import type { Message } from '../../messages/index.ts'
import { filterFields, isRecord } from '../../messages/record.ts'
import type { Part } from '../model.ts'
import { partsOf } from '../parts/output.ts'
import type { RemoteQuestion } from './reply.ts'

/**
 * What a remote is sent of a turn: the user's messages since the last answer, or since the one with the id `sent` to a task that
 * waits, and as data what the input has beside messages.
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
 * Answers as the remote expects them: in `resume` where it has asked by interrupts, as LangGraph's server has it, one alone and
 * several with their ids; else in words.
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
