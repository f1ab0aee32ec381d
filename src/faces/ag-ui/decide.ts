import type { Agent } from '../../agents/agent.ts'
import type { ClientTool } from '../../agents/model-request.ts'
import { HttpError } from '../../core/http/index.ts'
import type { OpenInterrupt, ThreadRecord } from '../../engine/index.ts'
import { encodeMessage, type Message } from '../../messages/index.ts'
import { defined, type Fields, filterFields, isRecord, sameJson } from '../../messages/record.ts'
import { readBy } from '../kit/body.ts'
import { answersTo, BREAKPOINT } from './interrupts.ts'
import { toolMessage, userMessage, waitingCalls } from './messages.ts'
import type { AgUiOptions } from './options.ts'
import { isKeyOfRun } from './state.ts'
import { incomingMessage, type RunInput } from './wire.ts'

/** The thread that a request meets, as it was read. */
export interface Situation {
  readonly thread: Pick<ThreadRecord, 'status' | 'interrupts'> | undefined
  readonly values: Fields
  readonly history: readonly Message[]
  /** The open questions. */
  readonly questions: readonly OpenInterrupt[]
  /** The names of tools that the page runs. */
  readonly ofClient: ReadonlySet<string>
}

/** What a request starts. */
export type Decision =
  | { readonly kind: 'nothing' }
  /** The run goes on from its breakpoint. */
  | { readonly kind: 'continue' }
  | { readonly kind: 'answer'; readonly answers: Fields; readonly update: Fields }
  | (News & {
      readonly kind: 'start'
      /** What the input has of the state, and of the messages. */
      readonly update: Fields
      readonly messages: Fields
      /** The message before which the run forks, if a state without it is known. */
      readonly forkBefore: string | undefined
    })

interface Page {
  readonly agent: Pick<Agent, 'inputKeys' | 'takesMessages'>
  readonly options: Pick<AgUiOptions, 'clientState' | 'edits'>
  readonly clientTools: readonly ClientTool[]
}

/** Decides what a request starts. Throws 400 for a message that cannot be read. */
export function decide(
  { thread, values, history, questions, ofClient }: Situation,
  { resume = [], messages: sent = [], state, context: facts = [] }: RunInput,
  { agent, options, clientTools }: Page,
): Decision {
  const isKey = (key: string): boolean => agent.inputKeys === '*' || (agent.inputKeys ?? []).includes(key)
  const update: Fields = {
    ...changedState(state, values, (key) => isKey(key) && mayWrite(options.clientState, key)),
    // The keys that graphs for LangGraph's AG-UI integration and CopilotKit's integration read.
    ...(isNamed(agent.inputKeys, 'ag-ui') && { 'ag-ui': { tools: clientTools, context: facts } }),
    ...(isNamed(agent.inputKeys, 'copilotkit') && { copilotkit: { actions: clientTools, context: facts } }),
  }
  if (questions.length > 0) {
    const answers = answersTo(questions, resume)
    return answers ? { kind: 'answer', answers, update } : { kind: 'nothing' }
  }
  // At a breakpoint no question is announced.
  if (thread?.status === 'interrupted' && thread.interrupts.length === 0) {
    const isContinued = resume.some(({ interruptId }) => interruptId === BREAKPOINT)
    return { kind: isContinued ? 'continue' : 'nothing' }
  }
  const waiting = waitingCalls(history)
  const callsOfClient = waiting.filter(({ name }) => ofClient.has(name))
  const news = newMessages(sent, history, callsOfClient)
  const addsNothing = news.added.length === 0
  if (addsNothing && (resume.length > 0 || (sent.at(-1)?.role === 'tool' && waiting.length > 0)))
    return { kind: 'nothing' }
  const calls = new Map(waiting.map(({ id, modelCallId = id }) => [id, modelCallId]))
  /** The state names a call as the model does. */
  const inState = ({ toolCallId, ...message }: Message) =>
    encodeMessage({ ...message, ...defined({ toolCallId: calls.get(toolCallId ?? '') ?? toolCallId }) })
  const { takesMessages = true } = agent
  const messages = takesMessages && !addsNothing ? { messages: news.added.map(inState) } : {}
  return { kind: 'start', ...news, update, messages, forkBefore: forkBefore(news, options.edits) }
}

type Sent = NonNullable<RunInput['messages']>

/**
 * Whether the client has a message of the thread. Tool results are matched by call id, because their own ids
 * may differ.
 */
export function isKnownTo(sent: Sent): (message: Message) => boolean {
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
 * The message before which the run forks. A client that adds nothing after a user message wants the answer
 * regenerated. If it does add messages, only the server's option can tell whether it dropped the messages in
 * between or has not seen them.
 */
function forkBefore(
  { added, unseen, endsWithUser }: News,
  edits: 'ignore' | 'fork' | undefined,
): string | undefined {
  const isMeant = added.length > 0 ? edits === 'fork' : endsWithUser
  return isMeant ? unseen[0]?.id : undefined
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
