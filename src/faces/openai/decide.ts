import { HttpError } from '../../core/http/index.ts'
import type { OpenInterrupt, ThreadRecord } from '../../engine/index.ts'
import { decodeMessage, type WireMessage } from '../../messages/index.ts'
import type { Fields } from '../../messages/record.ts'
import { withCallNames } from '../../messages/unique-calls.ts'
import { plainText, withoutTemplate } from './content.ts'
import { badRequest } from './errors.ts'
import type { Input } from './input.ts'
import { answerIn, answersTo, questionText } from './questions.ts'

/** The thread that a request meets, as it was read. What a request does not need is not read. */
export interface Situation {
  readonly thread?: Pick<ThreadRecord, 'lastRunId'> | undefined
  /** The last turn of a chat before the newest one that the thread knows, by its position. */
  readonly knownTurn?: number | undefined
  /**
   * The checkpoint that the run before left, if other runs came after it. Null if it left none. Undefined to
   * continue at the newest state.
   */
  readonly fork?: string | null | undefined
  /** The open questions of the newest state. */
  readonly questions: readonly OpenInterrupt[]
  /** The messages of the state to continue at. */
  readonly messages: readonly unknown[]
  /** The tools that the client of the run before was given to run. */
  readonly ofClient: ReadonlySet<string>
  /** Whether the thread is of another assistant than the one that the request names. */
  readonly isOfOther?: boolean | undefined
}

/** What a new thread is, and one of which nothing was read. */
export const NEW: Situation = { questions: [], messages: [], ofClient: new Set() }

/** What a request starts. */
export type Decision =
  | {
      readonly kind: 'start'
      readonly messages: readonly WireMessage[]
      /** Null for the empty state. Default: the newest. */
      readonly checkpointId?: string | null | undefined
      /** Whether it starts on a thread of its own, because another assistant continues. */
      readonly isMoved?: boolean | undefined
    }
  | { readonly kind: 'answer'; readonly messages: readonly WireMessage[]; readonly answers: Fields }

/** Nothing is started: the text is no answer to the open question, which is asked again. */
export interface AskAgain {
  readonly kind: 'ask'
  readonly question: string
}

/**
 * Decides about a chat, whose history is compared with the thread's turns. A request after a known turn
 * continues from there, or forks if something came after it: an edit or a regeneration. Without any known turn, a
 * UI's first message starts the thread again, and a program that names a thread adds its last messages.
 */
export function decideChat(given: Input, isOfUi: boolean, situation: Situation): Decision | AskAgain {
  if (given.answers.length > 0) return answer(given, situation)
  const { thread, knownTurn, fork, questions } = situation
  if (fork === null) throw noState()
  const messages = newMessages(given, isOfUi, situation)
  const question = knownTurn !== undefined && fork === undefined ? questions[0] : undefined
  if (question) {
    const said = messages.map(({ content }) => plainText(withoutTemplate(content))).join('\n')
    const answered = answerIn(question, said)
    if (!answered) return { kind: 'ask', question: questionText(question) }
    return { kind: 'answer', messages: [], answers: { [question.id]: answered.answer } }
  }
  const startsAgain = isOfUi && knownTurn === undefined && thread?.lastRunId
  return start(messages, situation, startsAgain ? null : fork)
}

/** The messages of a chat that its thread does not have. */
export function newMessages(
  { messages, turns }: Pick<Input, 'messages' | 'turns'>,
  isOfUi: boolean,
  { thread, knownTurn }: Pick<Situation, 'thread' | 'knownTurn'>,
): readonly WireMessage[] {
  if (knownTurn !== undefined) return messages.slice(turns[knownTurn + 1]!.at)
  if (isOfUi || !thread?.lastRunId) return messages
  return messages.slice(messages.findLastIndex(({ type }) => type === 'ai') + 1)
}

/** The id of the message with a response's instructions. The next response's instructions replace it. */
const INSTRUCTIONS = 'instructions'

/** Decides about a response, which continues after the run before. */
export function decideResponse(
  given: Input,
  instructions: string | undefined,
  situation: Situation,
): Decision {
  const { messages: before, isOfOther, fork } = situation
  if (fork === null) throw noState()
  if (given.answers.length > 0) return answer(given, situation)
  const own = instructions ? [messageOf('system', instructions), ...given.messages] : given.messages
  // For another assistant, the messages so far become input.
  const all = isOfOther ? [...(before as readonly WireMessage[]), ...own] : own
  if (instructions) return start(all, situation, fork)
  // Instructions hold for one response, so the next one without any removes them.
  const isThere = !isOfOther && before.some((one) => Object(one).id === INSTRUCTIONS)
  const others = all.filter(({ id }) => id !== INSTRUCTIONS)
  return start(isThere ? [messageOf('remove', ''), ...others] : others, situation, fork)
}

const noState = (): HttpError =>
  new HttpError(400, 'no_state', 'The earlier response left no state to continue from.')

const messageOf = (type: 'system' | 'remove', content: string): WireMessage => ({
  type,
  id: INSTRUCTIONS,
  content,
  additional_kwargs: {},
  response_metadata: {},
})

const answer = ({ messages, answers }: Input, { questions }: Situation): Decision => ({
  kind: 'answer',
  messages,
  answers: answersTo(answers, questions),
})

function start(
  messages: readonly WireMessage[],
  situation: Situation,
  checkpointId: string | null | undefined,
): Decision {
  const { thread, isOfOther } = situation
  if (isOfOther) return { kind: 'start', messages, isMoved: true }
  if (messages.length === 0 && !thread) throw badRequest('input: expected at least one message.')
  if (checkpointId !== null) refuseResults(messages, situation)
  return { kind: 'start', messages, checkpointId }
}

export const hasResults = (messages: readonly WireMessage[]): boolean =>
  messages.some(({ tool_call_id: id }) => typeof id === 'string')

/**
 * Throws for the result of a call that the state has, unless its tool is one that the client was given to
 * run: the agent runs the others itself, after an approval if it asks for one.
 */
function refuseResults(messages: readonly WireMessage[], { messages: before, ofClient }: Situation): void {
  const said = before.flatMap((message) => decodeMessage(message) ?? [])
  const names = new Map(
    withCallNames(said)
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name] as const] : [])),
  )
  for (const { tool_call_id: id } of messages) {
    const name = typeof id === 'string' ? names.get(id) : undefined
    if (name !== undefined && !ofClient.has(name))
      throw badRequest(`input: call ${JSON.stringify(id)} is of a tool that the assistant runs itself.`)
  }
}
