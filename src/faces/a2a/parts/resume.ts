import type { AnswerState, OpenInterrupt } from '../../../engine/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'
import { dataAnswer, textOf } from './input.ts'

type Answers = Readonly<Record<string, unknown>>

/** Whether a part answers a question of a task. */
export const isResume = (part: Part): part is Part & { readonly data: { readonly resume: unknown } } =>
  part.kind === 'data' && isRecord(part.data) && Object.hasOwn(part.data, 'resume')

/** The resume values of a message: LangGraph's `command`, and data parts with `resume`. */
export function resumeOf({ command, parts }: A2AMessage): readonly unknown[] {
  const ofData = parts.filter(isResume).map(({ data }) => data.resume)
  return command && Object.hasOwn(command, 'resume') ? [command.resume, ...ofData] : ofData
}

/**
 * The answers in a message by interrupt id. Undefined if the task has asked nothing. A single question is
 * answered with the message's resume value, its data, or its text; several questions are answered by id.
 * Throws `invalid_params`.
 */
export function answersTo(
  message: A2AMessage,
  state: AnswerState,
  questions: readonly OpenInterrupt[],
): Answers | undefined {
  const resumes = resumeOf(message)
  if (resumes.length > 1)
    throw refused('a message can resume only once. Send several answers as a list of { id, value }')
  if (questions.length === 0) {
    if (resumes.length === 0) return undefined
    if (state === 'input-required') return {}
    throw refused('the task is not awaiting input')
  }
  const [answer] = resumes.length > 0 ? resumes : [plainAnswer(message)]
  const ids = questions.map(({ id }) => id)
  const byId = answersById(answer, ids)
  if (byId) return byId
  if (ids.length === 1) return { [ids[0]!]: answer ?? null }
  throw refused(
    `the task has asked ${ids.length} questions. Answer them in a data part { resume: [{ id, value }, …] } by their ids ${JSON.stringify(ids)}`,
  )
}

/** The answers in a list of `{ id, value }`, or in an object whose keys are interrupt ids. */
function answersById(answer: unknown, ids: readonly string[]): Answers | undefined {
  const entries = Array.isArray(answer)
    ? answer.map((one) =>
        isRecord(one) && typeof one.id === 'string' ? ([one.id, one.value ?? null] as const) : undefined,
      )
    : isRecord(answer)
      ? Object.entries(answer)
      : []
  if (entries.length === 0 || entries.some((entry) => entry === undefined)) return undefined
  const given = entries as readonly (readonly [string, unknown])[]
  if (!given.some(([id]) => ids.includes(id))) return undefined
  const unknown = given.find(([id]) => !ids.includes(id))
  if (unknown) throw refused(`interrupt ${JSON.stringify(unknown[0])} does not wait for an answer`)
  return Object.fromEntries(given)
}

/** A plain message as the value of an answer: its text, its data, or its content if it has files. */
const plainAnswer = (message: A2AMessage): unknown =>
  message.parts.every(({ kind }) => kind === 'text') ? textOf(message) : dataAnswer(message)

const refused = (why: string): A2AError => new A2AError('invalid_params', `message: ${why}.`)
