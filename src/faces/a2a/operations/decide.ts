import type { Agent } from '../../../agents/agent.ts'
import {
  type AnswerRecord,
  type AnswerState,
  isAnswerEnded,
  type OpenInterrupt,
  type RunReceipt,
} from '../../../engine/index.ts'
import { type Fields, isRecord } from '../../../messages/record.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'
import { dataAnswer, hasContent, inputOf, textOf } from '../parts.ts'
import { ofOtherContext, taskIdOf } from '../tasks/ids.ts'

/** What a message meets in its conversation, as it was read. */
export interface Situation {
  readonly agent: Agent
  readonly contextId: string
  /** The run that the same message has started before. */
  readonly receipt: RunReceipt | undefined
  /** The task that the message names, with its open questions. */
  readonly task: { readonly record: AnswerRecord; readonly open: readonly OpenInterrupt[] } | undefined
  /** The task of the conversation that waits for an answer. */
  readonly waiting: AnswerRecord | undefined
  /** Whether a message for a task that has ended begins a new one in its context. */
  readonly isLenient: boolean
  /** The questions that the message answered when it was decided before, until the thread changed. */
  readonly answered: readonly string[]
}

/** What a message does. */
export type Decision =
  /** Nothing: it has started this run before. */
  | { readonly kind: 'repeat'; readonly receipt: RunReceipt }
  /** The first run of a new task. */
  | { readonly kind: 'begin'; readonly input: Fields }
  /** The task that it names is over: it begins another one in the context. */
  | { readonly kind: 'beginAnew' }
  /** Another run of the task, after the active one. */
  | { readonly kind: 'add'; readonly record: AnswerRecord; readonly input: Fields }
  /** A run that continues the task with answers. */
  | {
      readonly kind: 'answer'
      readonly record: AnswerRecord
      readonly answers: Fields
      readonly answered: readonly OpenInterrupt[]
    }

/** Decides what a message does. Throws the rejection. */
export function decide(situation: Situation, message: A2AMessage): Decision {
  const { agent, contextId, receipt, task, waiting } = situation
  if (task && message.contextId && message.contextId !== contextId) throw ofOtherContext(message.taskId ?? '')
  checkMessage(agent, message)
  if (receipt) return { kind: 'repeat', receipt }
  if (task) return decideForTask(situation, task, message)
  if (resumeOf(message).length > 0) throw unnamedTask('An answer')
  if (!waiting) return { kind: 'begin', input: inputOf(message, agent) }
  const id = JSON.stringify(taskIdOf(contextId, waiting.taskId))
  throw unnamedTask(`The conversation waits for an answer to task ${id}, and a message`)
}

/** A message for a task: the answer to its questions, or an additional message. */
function decideForTask(
  { agent, isLenient, answered }: Situation,
  { record, open }: NonNullable<Situation['task']>,
  message: A2AMessage,
): Decision {
  if (isAnswerEnded(record)) {
    // A message that only this task could accept is rejected.
    if (isLenient && resumeOf(message).length === 0) return { kind: 'beginAnew' }
    throw ended(message.taskId ?? '', record.state)
  }
  const gone = answered.find((id) => !open.some((question) => question.id === id))
  if (gone !== undefined)
    throw new A2AError('invalid_params', `message: interrupt ${JSON.stringify(gone)} was just answered.`)
  const answers = answersTo(message, record.state, open)
  if (!answers) return { kind: 'add', record, input: inputOf(message, agent) }
  return { kind: 'answer', record, answers, answered: open.filter(({ id }) => Object.hasOwn(answers, id)) }
}

/** Throws if the agent cannot read the message. */
function checkMessage(agent: Agent, message: A2AMessage): void {
  checkModes(agent, message)
  const { takesMessages = true } = agent
  if (takesMessages || !hasContent(message)) return
  throw new A2AError(
    'invalid_params',
    'message.parts: the agent has no `messages` in its state, so it only accepts data parts.',
  )
}

const ended = (taskId: string, state: string): A2AError =>
  new A2AError(
    'unsupported_operation',
    `Task ${JSON.stringify(taskId)} has ended (${state}) and accepts no more messages. To continue the conversation, send the message with only its contextId.`,
    { taskId },
  )

const unnamedTask = (what: string): A2AError =>
  new A2AError('invalid_params', `message.taskId: ${what} must name the task that asked.`)

/**
 * Throws `content_type_not_supported` for a part whose media type the agent does not accept. An agent without
 * `inputModes` accepts everything, and a file without a media type is always accepted.
 */
export function checkModes({ inputModes, skills = [] }: Agent, { parts }: A2AMessage): void {
  if (inputModes === undefined) return
  const modes = [...new Set([inputModes, ...skills.map((skill) => skill.inputModes ?? [])].flat())]
  const isRead = modes.map(matcher)
  for (const [index, part] of parts.entries()) {
    const type = typeOf(part)
    if (type === undefined || isResume(part) || isRead.some((reads) => reads(type))) continue
    throw new A2AError(
      'content_type_not_supported',
      `Incompatible content type: ${JSON.stringify(type)} of message.parts[${index}] is not supported. The agent accepts ${modes.join(', ')}.`,
      { field: `message.parts[${index}]` },
    )
  }
}

/** Media types without their parameters; `image/*` matches all images. */
function matcher(mode: string): (type: string) => boolean {
  const [range] = essenceOf(mode).split('*') as [string]
  return range === essenceOf(mode) ? (type) => type === range : (type) => type.startsWith(range)
}

const essenceOf = (type: string): string => type.split(';')[0]!.trim().toLowerCase()

function typeOf({ kind, mediaType }: Part): string | undefined {
  if (mediaType !== undefined) return essenceOf(mediaType)
  return kind === 'text' ? 'text/plain' : kind === 'data' ? 'application/json' : undefined
}

type Answers = Readonly<Record<string, unknown>>

/** Whether a part answers a question of a task. */
const isResume = (part: Part): part is Part & { readonly data: { readonly resume: unknown } } =>
  part.kind === 'data' && isRecord(part.data) && Object.hasOwn(part.data, 'resume')

/** The resume values of a message: LangGraph's `command`, and data parts with `resume`. */
function resumeOf({ command, parts }: A2AMessage): readonly unknown[] {
  const ofData = parts.filter(isResume).map(({ data }) => data.resume)
  return command && Object.hasOwn(command, 'resume') ? [command.resume, ...ofData] : ofData
}

/**
 * The answers in a message by interrupt id. Undefined if the task has asked nothing. A single question is
 * answered with the message's resume value, its data, or its text; several questions are answered by id.
 * Throws `invalid_params`.
 */
function answersTo(
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
