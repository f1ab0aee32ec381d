import type { ClientTool } from '../../../agents/model-request.ts'
import { textOf } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { AnswerItem } from '../../kit/reading/answer-item.ts'
import { chatUsage, createEnding, markdownOf } from '../ending.ts'
import { idOf } from '../ids.ts'
import { argumentsOf, questionText } from '../questions.ts'
import { messagesOfRun } from '../state.ts'

/** A completion to write. */
export interface ChatHead {
  readonly threadId: string
  readonly runId: string
  readonly model: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly clientTools: readonly ClientTool[]
  /**
   * Whether questions are sent as text, for the next user message to answer, instead of as function calls.
   */
  readonly asksInText: boolean
  readonly questionTool: string
  /** The last message of its input. */
  readonly after: string | null
  readonly includeUsage: boolean
}

/** How a completion has ended. */
export type ChatEnd =
  | { readonly status: 'completed' | 'asks' }
  | { readonly status: 'failed' | 'canceled'; readonly error: string }

export interface ChatWriter {
  /** The first chunk. */
  begin(): string
  /** The chunks of the answer's next item. */
  push(item: AnswerItem): string
  /** The complete completion. */
  completion(): object
  readonly end: ChatEnd | undefined
  readonly isEnded: boolean
  /** Whether the agent waits for an answer. */
  readonly asks: boolean
}

/** A message's text as sent. */
interface Sent {
  readonly messageId: string
  text: string
  isVoid: boolean
}

/** The separator between the text of a lost process and the text that replaces it. */
const ANEW = '\n\n---\n\n'
const BETWEEN = '\n\n'

const seconds = (ms: number): number => Math.floor(ms / 1_000)

/** Writes the answer of one run as a chat completion, complete and in chunks. */
export function createChatWriter(head: ChatHead): ChatWriter {
  const about = { id: `chatcmpl-${head.runId}`, created: seconds(head.createdAt), model: head.model }
  const ending = createEnding(head.clientTools)
  const texts: Sent[] = []
  const thoughts: Sent[] = []
  /** The text that a lost process has sent and that is not yet rewritten, and the rewritten part so far. */
  let lost: string | undefined
  let again = ''
  let finish: string | undefined
  let toolCalls: readonly object[] = []
  let end: ChatEnd | undefined
  let frames = ''

  const emit = (data: object): void => {
    frames += `data: ${JSON.stringify(data)}\n\n`
  }

  // All chunks start and end alike, so a text delta only costs its own JSON.
  const start = `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk' }).slice(0, -1)},"choices":[{"index":0,"delta":`
  const usage = head.includeUsage ? ',"usage":null' : ''

  function chunk(delta: object, reason: string | null = null): void {
    frames += `${start}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}]${usage}}\n\n`
  }

  /** Stores a delta, and returns it with the separator from the previous message. */
  function add(to: Sent[], messageId: string, text: string): string {
    const last = to.at(-1)
    if (last?.messageId === messageId && !last.isVoid) {
      last.text += text
      return text
    }
    const isFirst = lost === undefined ? to.length === 0 : !to.some(({ isVoid }) => !isVoid)
    to.push({ messageId, text, isVoid: false })
    return isFirst ? text : BETWEEN + text
  }

  function addText(messageId: string, text: string): void {
    const piece = add(texts, messageId, text)
    if (lost === undefined) {
      chunk({ content: piece })
      return
    }
    again += piece
    if (again.startsWith(lost)) {
      const more = again.slice(lost.length)
      lost = undefined
      if (more !== '') chunk({ content: more })
    } else if (!lost.startsWith(again)) sendAnew()
  }

  /** The rewritten text differs, so it is sent completely, separate from the first. */
  function sendAnew(): void {
    if (lost !== undefined && again !== '') chunk({ content: ANEW + again })
    lost = undefined
  }

  function retract({ messages, reason }: AnswerItem & { type: 'retract' }): void {
    for (const one of thoughts) if (messages.includes(one.messageId)) one.isVoid = true
    const gone = texts.filter((one) => !one.isVoid && messages.includes(one.messageId))
    if (gone.length === 0) return
    for (const one of gone) one.isVoid = true
    // What was sent stays. Nothing replaces it.
    if (reason === 'unused') return
    const before = texts.some(({ isVoid }) => !isVoid) ? BETWEEN : ''
    const text = before + gone.map((one) => one.text).join(BETWEEN)
    // Text that was lost twice was shown up to the longer of both.
    if (lost === undefined || text.length > lost.length) lost = text
    again = ''
  }

  /** Sends the messages of the newest state that were not sent yet. */
  function recover(messages: readonly unknown[]): void {
    for (const message of messagesOfRun(messages, head.after)) {
      ending.learn(message)
      if (message.role !== 'assistant' || message.id === undefined) continue
      const sent = texts.filter(({ messageId, isVoid }) => messageId === message.id && !isVoid)
      const text = textOf(message)
      const before = sent.map((one) => one.text).join('')
      if (text.startsWith(before) && text.length > before.length)
        addText(message.id, text.slice(before.length))
    }
  }

  function stop(reason: string, calls: readonly object[] = []): void {
    finish = reason
    toolCalls = calls
    if (calls.length > 0) chunk({ tool_calls: calls.map((call, index) => ({ index, ...call })) })
    chunk({}, reason)
    if (head.includeUsage) {
      const spent = chatUsage(ending.spent ?? NOTHING)
      emit({ ...about, object: 'chat.completion.chunk', choices: [], usage: spent })
    }
  }

  function close({ status, error }: AnswerItem & { type: 'runEnd' }): void {
    sendAnew()
    const { questions } = ending
    if (status === 'failed' || (status === 'interrupted' && questions.length === 0)) {
      const isFailed = status === 'failed'
      const message = isFailed ? (error ?? 'The agent has failed.') : 'The answer was cancelled.'
      end = { status: isFailed ? 'failed' : 'canceled', error: message }
      const code = isFailed ? 'run_failed' : 'run_cancelled'
      emit({ error: { message, type: 'server_error', param: null, code } })
    } else if (questions.length === 0) {
      const calls = ending.calls().map(({ id, name, arguments: args }) => callOf(id, name, args))
      stop(calls.length > 0 ? 'tool_calls' : (REASONS[ending.reason ?? 'stop'] ?? 'stop'), calls)
      end = { status: 'completed' }
    } else {
      if (head.asksInText) {
        addText('questions', questions.map(questionText).join(BETWEEN))
        stop('stop')
      } else
        stop(
          'tool_calls',
          questions.map((one) =>
            callOf(idOf('call', head.threadId, one.id), head.questionTool, argumentsOf(one)),
          ),
        )
      end = { status: 'asks' }
    }
  }

  function take(item: AnswerItem): void {
    ending.push(item)
    switch (item.type) {
      case 'textDelta':
        if (item.message.owner === null) addText(item.message.id, item.text)
        return
      case 'reasoningDelta':
        if (item.message.owner === null)
          chunk({ reasoning_content: add(thoughts, item.message.id, item.text) })
        return
      case 'media': {
        const text = markdownOf(item.block)
        if (text !== undefined && item.message.owner === null) addText(item.message.id, text)
        return
      }
      case 'retract':
        retract(item)
        return
      case 'gap':
        recover(itemsOf(item.values.messages))
        return
      case 'runEnd':
        close(item)
        return
    }
  }

  const whole = (parts: readonly Sent[]): string =>
    parts
      .filter(({ isVoid }) => !isVoid)
      .map(({ text }) => text)
      .join(BETWEEN)

  function written(): string {
    const text = frames
    frames = ''
    return text
  }

  return {
    begin() {
      chunk({ role: 'assistant', content: '' })
      return written()
    },
    push(item) {
      if (!end) take(item)
      return written()
    },
    completion() {
      const content = whole(texts)
      const reasoning = whole(thoughts)
      const message = {
        role: 'assistant',
        content: content === '' && toolCalls.length > 0 ? null : content,
        refusal: null,
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      }
      return {
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
        usage: chatUsage(ending.spent ?? NOTHING),
      }
    },
    get end() {
      return end
    },
    get isEnded() {
      return end !== undefined
    },
    get asks() {
      return end?.status === 'asks'
    },
  }
}

const callOf = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const NOTHING = { input: 0, cached: 0, output: 0, reasoning: 0 }

const REASONS: Readonly<Partial<Record<string, string>>> = {
  length: 'length',
  contentFilter: 'content_filter',
}
