import type { AgentTask, StateAddress, StateUpdate } from '../../../agents/agent.ts'
import { AgentInputError } from '../../../agents/errors.ts'
import {
  defineAgent,
  type FunctionAgent,
  type MessageWriter,
  type StepContext,
  type Writer,
} from '../../../agents/function/define-agent.ts'
import type { AgentProfile } from '../../../agents/profile.ts'
import { later } from '../../../core/lazy.ts'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import type { ContentBlock, Message } from '../../../messages/index.ts'
import { defined, filterFields, isRecord } from '../../../messages/record.ts'
import type { Part } from '../model.ts'
import { partsOf } from '../parts.ts'
import { type CardSource, openCard } from './card.ts'
import { type ConnectionOptions, createConnection } from './connection.ts'
import { type Conversation, createConversation, isWaiting } from './conversation.ts'
import type { A2ALink } from './exchange.ts'
import type { RemoteQuestion } from './reply.ts'

/** Loaded with the first message to a remote agent. */
const exchange = /* @__PURE__ */ later(() => import('./exchange.ts'), 'exchange')

/** The options of `a2aAgent`: the address of the remote agent, and its profile for clients of this server. */
export type A2AAgentOptions = CardSource &
  ConnectionOptions &
  AgentProfile & {
    readonly name?: string
    readonly description?: string
  }

const A2A_AGENT_OPTIONS: OptionTable<A2AAgentOptions> = {
  url: 'string',
  card: 'object',
  headers: ['object', 'list', 'function'],
  fetch: 'function',
  timeoutMs: 'number',
  name: 'string',
  description: 'string',
  skills: 'list',
  inputModes: 'list',
  outputModes: 'list',
  inputKeys: ['string', 'list'],
}

/** A remote agent, as an agent of this server. */
export interface A2AAgent extends FunctionAgent {
  /**
   * Runs the agent as a subagent of an agent function, with its question as the task:
   * `await subagent('weather', 'How is it in Oslo?', weather.run)`.
   */
  run(writer: Writer): Promise<void>
  /**
   * Calls the agent outside a run, such as in a graph node. Rejects with an `A2ARemoteError`, or with an
   * `AgentRejection` if the remote agent declines.
   */
  ask(request: A2ARequest): Promise<A2AReply>
}

/** A message or answers to send to a remote agent. */
export type A2ARequest = {
  /** The `link` of the previous reply, to continue its conversation. Default: a new conversation. */
  readonly link?: A2ALink | undefined
  /** Cancels the task when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** Called with each part of the text as it arrives. */
  readonly onText?: ((text: string) => void) | undefined
} & (
  | { readonly message: string | readonly ContentBlock[]; readonly answers?: undefined }
  /** The answers to the questions of the link, in order. */
  | { readonly answers: readonly unknown[]; readonly message?: undefined }
)

/** The reply of a remote agent. */
export interface A2AReply {
  readonly text: string
  /** The text, followed by files and data. */
  readonly content: readonly ContentBlock[]
  /** Its `questions` are what the remote agent waits for, if it does. */
  readonly link: A2ALink
}

/** The state key of the link. */
const KEY = 'a2a'

/**
 * Makes a remote A2A agent, v1.0 or v0.3, available as an agent to serve. A run sends the user's newest
 * messages and streams the answer. The remote agent's questions become interrupts, and a run whose process
 * was lost continues its task. Throws `AgentwireError` `invalid_argument` for unknown or invalid options.
 *
 * ```ts
 * const headers = { authorization: `Bearer ${token}` }
 * const weather = a2aAgent({ url: 'https://weather.example/a2a', headers })
 * const server = createAgentServer({ agents: { weather } })
 * ```
 *
 * The remote agent stores the conversation: a fork of a thread continues the same one.
 */
export function a2aAgent(options: A2AAgentOptions): A2AAgent {
  checkOptions('a2aAgent', options, A2A_AGENT_OPTIONS)
  const { name, description, skills, inputModes, outputModes, inputKeys = '*' } = options
  const connection = createConnection(options)
  const readCard = openCard(options, connection)
  const open: Open = async (signal) => createConversation(connection, await readCard(signal))
  const agent = defineAgent({
    ...defined({ name, description, skills, inputModes, outputModes }),
    // The remote agent validates its own input.
    inputKeys,
    resumable: true,
    run: (context) => converse(open, context, context.input),
  })

  return {
    ...agent,
    run: (writer) => converse(open, writer),
    ask: (request) => ask(open, request),
    // Clients must not set the link: with another one they could write to another user's conversation.
    stream(task: AgentTask) {
      const { start } = task
      refuseLink(start.kind === 'resume' ? start.update : start.value)
      return agent.stream(task)
    },
    async validateInput(input) {
      refuseLink(input)
      await agent.validateInput(input)
    },
    async updateState(at: StateAddress, update: StateUpdate) {
      refuseLink(update.values)
      return agent.updateState(at, update)
    },
  }
}

type Open = (signal: AbortSignal) => Promise<Conversation>

async function converse(open: Open, writer: Writer, input?: unknown): Promise<void> {
  const { messages } = writer
  const { state, sent: before } = linkOf(writer)
  const sent = messages.at(-1)?.id
  let parts = turnParts(messages, input, state && isWaiting(state) ? before : undefined)
  for (let isAnswer = false; ; isAnswer = true) {
    const request = { parts, isAnswer, sent }
    const { questions } = await writer.step(async (step) => sendStep(await open(step.signal), step, request))
    if (!questions) return
    parts = answerParts(questions, await Promise.all(questions.map(({ value }) => writer.interrupt(value))))
  }
}

async function ask(
  open: Open,
  { message, answers = [], link = {}, signal = new AbortController().signal, onText }: A2ARequest,
): Promise<A2AReply> {
  const content: ContentBlock[] = []
  let text = ''
  const blocks: readonly ContentBlock[] =
    typeof message === 'string' ? [{ type: 'text', text: message }] : (message ?? [])
  const { link: last, error } = await exchange(await open(signal), {
    link,
    messageId: crypto.randomUUID(),
    parts: message === undefined ? answerParts(link.questions ?? [], answers) : partsOf(blocks),
    isAnswer: message === undefined,
    signal,
    text(piece) {
      text += piece
      onText?.(piece)
    },
    // The reply only contains the answer.
    reasoning: () => {},
    block: (block) => content.push(block),
    save: () => {},
  })
  if (error) throw error
  return { text, content: text === '' ? content : [{ type: 'text', text }, ...content], link: last }
}

const linkOf = ({ state }: Writer): A2ALink => (state[KEY] as A2ALink | undefined) ?? {}

/**
 * One exchange as a step of a run: its answer becomes one message. The link is stored as soon as the remote
 * agent has the message.
 */
async function sendStep(
  conversation: Conversation,
  step: StepContext,
  {
    sent,
    ...request
  }: { readonly parts: readonly Part[]; readonly isAnswer: boolean; readonly sent: string | undefined },
): Promise<A2ALink> {
  let message: MessageWriter | undefined
  const writer = () => (message ??= step.message())
  const save = (link: A2ALink) => step.setState({ [KEY]: link })
  const { link, error } = await exchange(conversation, {
    ...request,
    link: { ...linkOf(step), sent },
    messageId: step.id,
    signal: step.signal,
    text: (text) => writer().text(text),
    reasoning: (text) => writer().reasoning(text),
    block: (block) => writer().block(block),
    save,
  })
  // A message that is open when its run fails is shown as failed.
  if (!error) void message?.end()
  await save(link)
  if (error) throw error
  return link
}

function refuseLink(values: unknown): void {
  const given = Array.isArray(values)
    ? values.some((entry) => Array.isArray(entry) && entry[0] === KEY)
    : undefined
  if (given ?? (isRecord(values) && Object.hasOwn(values, KEY)))
    throw new AgentInputError(
      `The state key "${KEY}" is reserved for the agent, which stores its remote conversation there.`,
    )
}

/**
 * What to send to a remote agent for a turn: the user's messages since the last answer or, for a waiting
 * task, since the message with the id `sent`; and as data, all input keys except messages.
 */
function turnParts(messages: readonly Message[], input: unknown, sent?: string): readonly Part[] {
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
function answerParts(questions: readonly RemoteQuestion[], answers: readonly unknown[]): readonly Part[] {
  if (questions.every(({ id }) => id === undefined)) return answers.map(wordsOf)
  const resume =
    questions.length === 1 ? answers[0] : questions.map(({ id }, at) => ({ id, value: answers[at] }))
  return [{ kind: 'data', data: { resume } }]
}

function wordsOf(answer: unknown): Part {
  if (isRecord(answer)) return { kind: 'data', data: answer }
  return { kind: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer ?? null) }
}
