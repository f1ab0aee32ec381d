import type { StateSnapshot } from '../../../agents/agent.ts'
import { toJson } from '../../../agents/to-json.ts'
import {
  type AnswerRecord,
  type FoundAnswer,
  internalsOf,
  isAnswerEnded,
  type OpenInterrupt,
  type ServedEngine,
  unanswered,
} from '../../../engine/index.ts'
import { decodeBlock, type Message } from '../../../messages/index.ts'
import { listAll } from '../../../storage/store/pages.ts'
import type { Json, Op, Store } from '../../../storage/store/store.ts'
import { type AnswerStart, messagesOfAnswer, stateAfter } from '../../kit/answer-messages.ts'
import { promptText } from '../../kit/reading/approvals.ts'
import type { A2AMessage, Artifact, HistoryScope, Part, Task, TaskStatus } from '../model.ts'
import { decoded, messagesIn, partsOf, turnOf } from '../parts.ts'
import { taskIdOf } from './ids.ts'

/** The data that this face stores with a task. */
export interface TaskDetails extends AnswerStart {
  readonly contextId: string
  readonly messageId: string
}

/** A task with its thread. */
export interface FoundTask extends Pick<FoundAnswer, 'thread' | 'record'> {
  readonly contextId: string
}

export interface TaskViewOptions {
  /**
   * The maximum number of history messages; the newest are kept. 0 omits the history. Default: all of the
   * task.
   */
  readonly historyLength?: number | undefined
  /** Which messages the history contains. Default: those of the task. */
  readonly historyScope?: HistoryScope | undefined
  /** Default: true. */
  readonly artifacts?: boolean | undefined
}

/** A task as clients see it. Its history and answer are the thread's messages that belong to it. */
export async function presentTask(
  engine: ServedEngine,
  found: FoundTask,
  shown: TaskViewOptions = {},
): Promise<Task> {
  const { contextId, record } = found
  const { historyLength, historyScope = 'task', artifacts = true } = shown
  const isOver = isAnswerEnded(record) || record.state === 'input-required'
  const wants = historyLength !== 0 || (artifacts && isOver)
  const state = wants ? await stateAfter(engine, found) : undefined
  const all = messagesIn(state?.values ?? {})
  const messages = decoded(messagesOfAnswer(all, Object(record.details)))
  const questions = questionsOf(found)
  const id = taskIdOf(contextId, record.taskId)
  const isOfTask = historyScope === 'task'
  return {
    id,
    contextId,
    status: statusOf(found, questions),
    ...(historyLength !== 0 && {
      history: newest(
        turnsOf(
          isOfTask ? messages : decoded(all),
          await answeredOf(engine, found, historyScope),
          isOfTask ? { contextId, taskId: id } : { contextId },
        ),
        historyLength,
      ),
    }),
    ...(artifacts && isOver && { artifacts: artifactsOf(record, messages, state, questions) }),
  }
}

/**
 * The messages as clients see them, with each question and its answer at the position where it was asked. The
 * messages of a whole context belong to several tasks.
 */
function turnsOf(
  messages: readonly Message[],
  answered: readonly AnsweredQuestion[],
  place: { readonly contextId: string; readonly taskId?: string },
): readonly A2AMessage[] {
  const known = new Set(messages.map(({ id }) => id))
  const asked = (where: (after: string | null) => boolean): readonly A2AMessage[] =>
    answered
      .filter(({ after }) => where(after))
      .flatMap(({ question, answer }): readonly A2AMessage[] => [
        { ...question, role: 'agent', ...place },
        { ...answer, role: 'user', ...place },
      ])
  return [
    ...asked((after) => after === null),
    ...messages.flatMap((message) => [...turnOf(message, place), ...asked((after) => after === message.id)]),
    // The agent has dropped the message after which it asked.
    ...asked((after) => after !== null && !known.has(after)),
  ]
}

/** The answered questions of the task, or of its whole context. A task with one run has none. */
const answeredOf = async (
  engine: ServedEngine,
  { record }: FoundTask,
  scope: HistoryScope,
): Promise<readonly AnsweredQuestion[]> =>
  scope === 'task' && record.runIds.length === 1
    ? []
    : loadAnswered(internalsOf(engine).store, record.threadId, scope === 'task' ? record.taskId : undefined)

const newest = <T>(items: readonly T[], length = items.length): readonly T[] =>
  items.slice(Math.max(0, items.length - length))

/** The unanswered questions of the task. A working task may already have asked. */
export const openQuestions = ({ thread, record }: FoundTask): readonly OpenInterrupt[] =>
  unanswered(thread).filter(({ runId }) => record.runIds.includes(runId))

/** The interrupts that the task waits for. */
export const questionsOf = (found: FoundTask): readonly OpenInterrupt[] =>
  found.record.state === 'input-required' ? openQuestions(found) : []

/** A question whose value has `type: 'auth-required'` asks the client for an authorization. */
const asksForAuth = ({ value }: OpenInterrupt): boolean =>
  (Object(value) as { readonly type?: unknown }).type === 'auth-required'

export function statusOf({ contextId, record }: FoundTask, questions: readonly OpenInterrupt[]): TaskStatus {
  const { error, updatedAt } = record
  const state = questions.some(asksForAuth) ? 'auth-required' : record.state
  const { messageId, parts } =
    error !== null
      ? { messageId: statusIdOf(record), parts: [textPart(error)] }
      : questionMessage(record, questions)
  const taskId = taskIdOf(contextId, record.taskId)
  const message = { messageId, role: 'agent', parts, contextId, taskId } as const
  return { state, ...(parts.length > 0 && { message }), timestamp: timestampOf(updatedAt) }
}

const statusIdOf = ({ runIds }: AnswerRecord): string => `${runIds.at(-1)}-status`

/** The task's questions as text. */
export const questionMessage = (
  record: AnswerRecord,
  questions: readonly OpenInterrupt[],
): Pick<A2AMessage, 'messageId' | 'parts'> => ({
  messageId: statusIdOf(record),
  parts: questions.flatMap(({ value }) => promptOf(value)),
})

/** ISO 8601 in UTC with milliseconds. */
export const timestampOf = (at: number): string => new Date(at).toISOString()

const textPart = (text: string): Part => ({ kind: 'text', text })

/** The question of an interrupt as text. The complete value is in the artifact. */
const promptOf = (value: unknown): readonly Part[] => {
  const text = promptText(value)
  return text === '' ? [] : [textPart(text)]
}

/** The id of the artifact with a task's answer. */
export const answerIdOf = ({ taskId }: Pick<AnswerRecord, 'taskId'>): string => `answer-${taskId}`

export const ANSWER_NAME = 'Assistant Response'

function artifactsOf(
  record: AnswerRecord,
  messages: readonly Message[],
  state: StateSnapshot | undefined,
  questions: readonly OpenInterrupt[],
): readonly Artifact[] {
  const { messageId } = Object(record.details) as Partial<TaskDetails>
  // A client's message may have the role of the agent.
  const answers = messages.filter(({ role, id }) => role === 'assistant' && id !== messageId)
  const parts = answers.map(({ content }) => partsOf(content)).findLast((some) => some.length > 0)
  return [
    ...(parts ? [{ artifactId: answerIdOf(record), name: ANSWER_NAME, parts }] : []),
    ...ownArtifacts(state, record),
    ...questions.map(questionArtifact),
  ]
}

const questionArtifact = ({ id, value }: OpenInterrupt): Artifact => ({
  artifactId: id,
  name: 'Interrupt',
  parts: [{ kind: 'data', data: { id, value: value ?? null } }],
})

/** The artifacts that a function wrote in the runs of the task. */
function ownArtifacts(state: StateSnapshot | undefined, { runIds }: AnswerRecord): readonly Artifact[] {
  const { artifacts } = state?.values ?? {}
  return Array.isArray(artifacts) ? artifacts.flatMap((artifact) => ownArtifact(artifact, runIds) ?? []) : []
}

function ownArtifact(value: unknown, runIds: readonly string[]): Artifact | undefined {
  const { id, run_id, name, description, metadata, content } = Object(value) as Readonly<
    Record<string, unknown>
  >
  if (typeof id !== 'string' || !runIds.includes(run_id as string) || !Array.isArray(content))
    return undefined
  const parts = partsOf(content.flatMap((block) => decodeBlock(block) ?? []))
  if (parts.length === 0) return undefined
  return { artifactId: id, ...aboutArtifact({ name, description, metadata }), parts }
}

/** The optional fields of an artifact, if they have the right type. */
export const aboutArtifact = ({ name, description, metadata }: Readonly<Record<string, unknown>>) => ({
  ...(typeof name === 'string' && { name }),
  ...(typeof description === 'string' && { description }),
  ...(typeof metadata === 'object' &&
    metadata !== null && { metadata: metadata as Readonly<Record<string, unknown>> }),
})

/**
 * A question of a task and its answer. The agent only gets the answer, and need not keep either in its
 * messages.
 */
export interface AnsweredQuestion {
  readonly taskId: string
  /** The last message of the state when the task asked. Null if there was none. */
  readonly after: string | null
  readonly question: Pick<A2AMessage, 'messageId' | 'parts'>
  readonly answer: Pick<A2AMessage, 'messageId' | 'parts' | 'metadata'>
}

const COLLECTION = 'a2a_answers'

/** Stores an answer with its question, in the commit of the run that takes it. */
export const putAnswered = (runId: string, answered: AnsweredQuestion): Op => ({
  op: 'put',
  collection: COLLECTION,
  id: runId,
  value: toJson(answered) as Json,
  index: { task: answered.taskId },
})

/**
 * The answered questions of a task, or of all tasks of the thread, in the order in which they were answered.
 */
async function loadAnswered(
  store: Store,
  threadId: string,
  taskId: string | undefined,
): Promise<readonly AnsweredQuestion[]> {
  const query = { partition: threadId, ...(taskId !== undefined && { where: { task: taskId } }) }
  const docs = await listAll(store, COLLECTION, query)
  return docs.map(({ value }) => value as unknown as AnsweredQuestion)
}
