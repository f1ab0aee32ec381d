import { HttpError } from '../../core/http/index.ts'
import { uuidOf } from '../../core/ids.ts'
import {
  type Answer,
  type CommandKey,
  internalsOf,
  lookAtThread,
  openQuestions,
  questionsBeforeInput,
  receiptIn,
  retryConflicts,
} from '../../engine/index.ts'
import { encodeMessage, type Message } from '../../messages/index.ts'
import { defined, type Fields, filterFields, isRecord, sameJson } from '../../messages/record.ts'
import type { LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import { readBy } from '../kit/body.ts'
import { namesOf, toolsOfRun, withClientTools } from '../kit/client-tools.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import type { AgUiCall } from './call.ts'
import { answersTo, BREAKPOINT } from './interrupts.ts'
import { messagesIn, toolMessage, userMessage, waitingCalls } from './messages.ts'
import { isKeyOfRun } from './state.ts'
import { incomingMessage, type RunInput } from './wire.ts'

/**
 * An answer to read, starting with the run that a request has started, or that an earlier identical request
 * had started.
 */
export interface StartedRun {
  readonly answer: Answer<readonly (ThreadEvent | LogGap)[]>
  /** The messages that the client already has. */
  readonly before: readonly Message[]
}

/**
 * Starts the run that a client requests. Returns undefined if there is nothing to start: the client has not
 * answered all open questions of the thread, or it only answers a question that is no longer open.
 */
export const begin = (
  call: AgUiCall,
  input: RunInput,
  signal: AbortSignal,
): Promise<StartedRun | undefined> => retryConflicts(() => beginOnce(call, input, signal))

async function beginOnce(
  { context, call, agent, assistantId, assistant, metadata }: AgUiCall,
  input: RunInput,
  signal: AbortSignal,
): Promise<StartedRun | undefined> {
  const { engine, options } = context
  const { principal, request } = call
  const { threadId } = input
  const { cancelOnLeave } = options
  const following = {
    threadId,
    principal,
    signal,
    filter: ANSWER_EVENTS,
    batches: true,
    cancelOnLeave,
  } as const
  const command = await keyOf(input)
  const look = await lookAtThread(engine, { threadId, principal, command })
  const { thread } = look
  const { values = {} } = (thread && (await engine.readState(thread))) ?? {}
  const history = messagesIn(values) ?? []
  const receipt = receiptIn(look)
  if (receipt && 'runId' in receipt) {
    const { runId, appliedThroughSeq: after } = receipt
    const answer = await engine.follow({ ...following, answerId: runId, runId, after })
    const isSent = isKnownTo(input.messages ?? [])
    return answer && { answer, before: history.filter(isSent) }
  }

  const settings = runSettings(internalsOf(engine).limits, assistant, metadata && { metadata })
  const { tools = [], context: facts = [], forwardedProps, runId } = input
  const clientTools = tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: isRecord(parameters) ? parameters : undefined },
  }))
  const configurable = { ...settings.config.configurable, ag_ui: { runId, context: facts, forwardedProps } }
  const run = {
    ...settings,
    config: withClientTools({ ...settings.config, configurable }, clientTools),
    assistantId,
    request,
    traceparent: request.headers.get('traceparent'),
    command,
    looked: look,
  }
  const isKey = (key: string): boolean => agent.inputKeys === '*' || (agent.inputKeys ?? []).includes(key)
  const update: Fields = {
    ...changedState(input.state, values, (key) => isKey(key) && mayWrite(options.clientState, key)),
    // The keys that graphs for LangGraph's AG-UI integration and CopilotKit's integration read.
    ...(isNamed(agent.inputKeys, 'ag-ui') && { 'ag-ui': { tools: clientTools, context: facts } }),
    ...(isNamed(agent.inputKeys, 'copilotkit') && { copilotkit: { actions: clientTools, context: facts } }),
  }

  const resume = input.resume ?? []
  const readQuestions = resume.length > 0 ? openQuestions : questionsBeforeInput
  const questions = thread ? await readQuestions(engine, thread) : []
  if (questions.length > 0) {
    const answers = answersTo(questions, resume)
    if (!answers) return undefined
    const respond = { ...run, answers, ...(Object.keys(update).length > 0 && { update }) }
    return { answer: await engine.follow({ ...following, respond }), before: history }
  }
  // At a breakpoint no question is announced.
  if (thread?.status === 'interrupted' && thread.interrupts.length === 0) {
    if (!resume.some(({ interruptId }) => interruptId === BREAKPOINT)) return undefined
    return { answer: await engine.follow({ ...following, start: run }), before: history }
  }

  const sent = input.messages ?? []
  const isResult = ({ role }: Sent[number]): boolean => role === 'tool'
  const waiting = waitingCalls(history)
  const ofClient =
    thread && waiting.length > 0 && sent.some(isResult)
      ? await toolsOfRun(engine, principal, thread)
      : new Set<string>()
  const news = newMessages(
    sent,
    history,
    waiting.filter(({ name }) => ofClient.has(name)),
  )
  const addsNothing = news.added.length === 0
  if (addsNothing && (resume.length > 0 || (sent.at(-1)?.role === 'tool' && waiting.length > 0)))
    return undefined
  const fork = await forkOf(news, options.edits, (messageId) =>
    engine.checkpointBefore({ threadId, principal, messageId }),
  )
  const { takesMessages = true } = agent
  const isRegenerate = fork !== undefined && news.added.length === 0
  const calls = new Map(waitingCalls(history).map(({ id, modelCallId = id }) => [id, modelCallId]))
  /** The state names a call as the model does. */
  const inState = ({ toolCallId, ...message }: Message) =>
    encodeMessage({ ...message, ...defined({ toolCallId: calls.get(toolCallId ?? '') ?? toolCallId }) })
  const messages = takesMessages && news.added.length > 0 ? { messages: news.added.map(inState) } : {}
  const start = {
    ...run,
    ...(fork !== undefined && { checkpointId: fork }),
    input: isRegenerate ? null : { ...update, ...messages },
    title: titleOf(messages),
    ...(metadata && { metadata }),
    answer: { details: { runId, clientTools: namesOf(clientTools) } },
  }
  const before = [...(fork === undefined ? history : news.shared), ...news.added]
  return { answer: await engine.follow({ ...following, start }), before }
}

/**
 * After a client-side tool, a page may send another message under the same run id, so the id alone is not a
 * key.
 */
async function keyOf({ runId, messages = [], resume = [] }: RunInput): Promise<CommandKey> {
  const fingerprint = await uuidOf([runId, messages.length, messages.at(-1) ?? null, resume])
  return { key: `ag-ui:${fingerprint}`, fingerprint }
}

type Sent = NonNullable<RunInput['messages']>

/**
 * Whether the client has a message of the thread. Tool results are matched by call id, because their own ids
 * may differ.
 */
function isKnownTo(sent: Sent): (message: Message) => boolean {
  const ids = new Set(sent.map(({ id }) => id))
  const calls = new Set(sent.map(({ toolCallId }) => toolCallId))
  return ({ id, role, toolCallId }) => (role === 'tool' ? calls.has(toolCallId) : ids.has(id!))
}

interface News {
  /** Messages that the client adds to the thread. */
  readonly added: readonly Message[]
  /** The thread's messages up to the newest one that the client has. */
  readonly shared: readonly Message[]
  /** The thread's messages after it. */
  readonly unseen: readonly Message[]
  /** Whether the newest shared message is the user's. */
  readonly endsWithUser: boolean
}

/**
 * The new messages at the end of a client's list: user messages and results of the client-side calls that
 * wait for it. Everything
 * before them comes from the thread.
 */
function newMessages(
  sent: Sent,
  history: readonly Message[],
  waiting: ReturnType<typeof waitingCalls>,
): News {
  const ids = new Set(history.map(({ id, role, toolCallId }) => (role === 'tool' ? toolCallId : id)))
  const isOld = ({ id, role, toolCallId }: Sent[number]): boolean =>
    role === 'assistant' || ids.has(role === 'tool' ? (toolCallId as string) : id)
  const at = sent.findLastIndex(isOld)
  const added = sent.slice(at + 1).flatMap((message, offset): Message[] => {
    const { role, toolCallId } = message
    const call = waiting.find(({ id }) => id === toolCallId)
    if (role !== 'user' && !(role === 'tool' && call)) return []
    const refused = (text: string) =>
      new HttpError(400, 'invalid_argument', `messages.${at + 1 + offset}: ${text}`)
    const taken = readBy(incomingMessage, message, refused)
    return [role === 'user' ? userMessage(taken) : toolMessage(taken, call!)]
  })
  const newest = history.findLastIndex(isKnownTo(sent.slice(0, at + 1)))
  const shared = history.slice(0, newest + 1)
  return { added, shared, unseen: history.slice(newest + 1), endsWithUser: shared.at(-1)?.role === 'user' }
}

/**
 * The checkpoint that the run continues from. A client that adds nothing after a user message wants the
 * answer regenerated. If it does add messages, only the server's option can tell whether it dropped the
 * messages in between or has not seen them.
 */
async function forkOf(
  { added, unseen, endsWithUser }: News,
  edits: 'ignore' | 'fork' | undefined,
  before: (messageId: string) => Promise<string | null | undefined>,
): Promise<string | null | undefined> {
  const isMeant = added.length > 0 ? edits === 'fork' : endsWithUser
  const [first] = unseen
  return isMeant && first?.id !== undefined ? before(first.id) : undefined
}

const isNamed = (keys: readonly string[] | '*' | undefined, key: string): boolean =>
  keys !== '*' && (keys ?? []).includes(key)

const mayWrite = (keys: boolean | readonly string[] | undefined, key: string): boolean =>
  typeof keys === 'object' ? keys.includes(key) : keys !== false

/** The state keys that a page has changed. The others keep the thread's values. */
function changedState(state: unknown, values: Fields, isTaken: (key: string) => boolean): Fields {
  if (!isRecord(state)) return {}
  return filterFields(
    state,
    (key, value) =>
      !isKeyOfRun(key) &&
      key !== '__proto__' &&
      isTaken(key) &&
      !sameJson(value ?? null, (Object.hasOwn(values, key) ? values[key] : undefined) ?? null),
  )
}
