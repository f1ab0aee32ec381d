import type { Agent } from '../../../agents/agent.ts'
import {
  type AnswerRecord,
  isAnswerEnded,
  type OpenInterrupt,
  type RunReceipt,
} from '../../../engine/index.ts'
import type { Fields } from '../../../messages/record.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'
import { hasContent, inputOf } from '../parts/input.ts'
import { answersTo, isResume, resumeOf } from '../parts/resume.ts'
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
