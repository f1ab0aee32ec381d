import type { ClientTool } from '../../../agents/model-request.ts'
import { textOf } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { AnswerItem } from '../../kit/reading/answer-item.ts'
import {
  chatUsage,
  clientCalls,
  createEnding,
  learn,
  markdownOf,
  messagesOfRun,
  pushEnding,
  reasonOf,
  seconds,
} from '../ending.ts'
import { idOf } from '../ids.ts'
import { argumentsOf, questionText } from '../questions.ts'
import type { RunWriter } from '../read.ts'

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

/** A message's text as sent. */
interface Sent {
  readonly messageId: string
  text: string
  isVoid: boolean
}

/** The separator between the text of a lost process and the text that replaces it. */
const ANEW = '\n\n---\n\n'
const BETWEEN = '\n\n'

export interface ChatWriter extends RunWriter {
  /** The complete completion. */
  completion(): object
  readonly end: ChatEnd | undefined
}

/** A completion as written so far. */
function createCompletion(head: ChatHead) {
  const about = { id: `chatcmpl-${head.runId}`, created: seconds(head.createdAt), model: head.model }
  const started = JSON.stringify({ ...about, object: 'chat.completion.chunk' }).slice(0, -1)
  const usage = head.includeUsage ? ',"usage":null' : ''
  return {
    head,
    about,
    /** All chunks start and end alike, so a text delta only costs its own JSON. */
    frame: { start: `data: ${started},"choices":[{"index":0,"delta":`, end: `}]${usage}}\n\n` },
    ending: createEnding(head.clientTools),
    texts: [] as Sent[],
    thoughts: [] as Sent[],
    /** The text that a lost process has sent and that is not yet rewritten, and the rewritten part so far. */
    lost: undefined as string | undefined,
    again: '',
    finish: undefined as string | undefined,
    toolCalls: [] as readonly object[],
    end: undefined as ChatEnd | undefined,
    frames: '',
  }
}

type Completion = ReturnType<typeof createCompletion>

/** Writes the answer of one run as a chat completion, complete and in chunks. */
export function createChatWriter(head: ChatHead): ChatWriter {
  const chat = createCompletion(head)
  return {
    begin() {
      writeChunk(chat, { role: 'assistant', content: '' })
      return takeFrames(chat)
    },
    push(item) {
      if (!chat.end) writeItem(chat, item)
      return takeFrames(chat)
    },
    completion: () => completionOf(chat),
    get end() {
      return chat.end
    },
    get isEnded() {
      return chat.end !== undefined
    },
    get asks() {
      return chat.end?.status === 'asks'
    },
  }
}

function writeItem(chat: Completion, item: AnswerItem): void {
  pushEnding(chat.ending, item)
  switch (item.type) {
    case 'textDelta':
      if (item.message.owner === null) addText(chat, item.message.id, item.text)
      return
    case 'reasoningDelta':
      if (item.message.owner === null)
        writeChunk(chat, { reasoning_content: add(chat, chat.thoughts, item.message.id, item.text) })
      return
    case 'media': {
      const text = markdownOf(item.block)
      if (text !== undefined && item.message.owner === null) addText(chat, item.message.id, text)
      return
    }
    case 'retract':
      retract(chat, item)
      return
    case 'gap':
      recover(chat, itemsOf(item.values.messages))
      return
    case 'runEnd':
      endRun(chat, item)
      return
  }
}

function emit(chat: Completion, data: object): void {
  chat.frames += `data: ${JSON.stringify(data)}\n\n`
}

function writeChunk(chat: Completion, delta: object, reason: string | null = null): void {
  const { start, end } = chat.frame
  chat.frames += `${start}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${end}`
}

/** The frames written since the last call. */
function takeFrames(chat: Completion): string {
  const { frames } = chat
  chat.frames = ''
  return frames
}

/** Stores a delta, and returns it with the separator from the previous message. */
function add({ lost }: Completion, to: Sent[], messageId: string, text: string): string {
  const last = to.at(-1)
  if (last?.messageId === messageId && !last.isVoid) {
    last.text += text
    return text
  }
  const isFirst = lost === undefined ? to.length === 0 : !to.some(({ isVoid }) => !isVoid)
  to.push({ messageId, text, isVoid: false })
  return isFirst ? text : BETWEEN + text
}

function addText(chat: Completion, messageId: string, text: string): void {
  const piece = add(chat, chat.texts, messageId, text)
  const { lost } = chat
  if (lost === undefined) {
    writeChunk(chat, { content: piece })
    return
  }
  chat.again += piece
  const { again } = chat
  if (again.startsWith(lost)) {
    chat.lost = undefined
    if (again !== lost) writeChunk(chat, { content: again.slice(lost.length) })
  } else if (!lost.startsWith(again)) sendAnew(chat)
}

/** The rewritten text differs, so it is sent completely, separate from the first. */
function sendAnew(chat: Completion): void {
  if (chat.lost !== undefined && chat.again !== '') writeChunk(chat, { content: ANEW + chat.again })
  chat.lost = undefined
}

function retract(chat: Completion, { messages, reason }: AnswerItem & { type: 'retract' }): void {
  const { texts, thoughts, lost } = chat
  for (const one of thoughts) if (messages.includes(one.messageId)) one.isVoid = true
  const gone = texts.filter((one) => !one.isVoid && messages.includes(one.messageId))
  if (gone.length === 0) return
  for (const one of gone) one.isVoid = true
  // What was sent stays. Nothing replaces it.
  if (reason === 'unused') return
  const before = texts.some(({ isVoid }) => !isVoid) ? BETWEEN : ''
  const text = before + gone.map((one) => one.text).join(BETWEEN)
  // Text that was lost twice was shown up to the longer of both.
  if (lost === undefined || text.length > lost.length) chat.lost = text
  chat.again = ''
}

/** Sends the messages of the newest state that were not sent yet. */
function recover(chat: Completion, messages: readonly unknown[]): void {
  for (const message of messagesOfRun(messages, chat.head.after)) {
    learn(chat.ending, message)
    const { id, role } = message
    if (role !== 'assistant' || id === undefined) continue
    const before = textIn(
      chat.texts.filter(({ messageId }) => messageId === id),
      '',
    )
    const text = textOf(message)
    if (text.startsWith(before) && text.length > before.length) addText(chat, id, text.slice(before.length))
  }
}

function endRun(chat: Completion, { status, error }: AnswerItem & { type: 'runEnd' }): void {
  sendAnew(chat)
  const { ending, head } = chat
  const questions = [...ending.questions.values()]
  if (status === 'failed' || (status === 'interrupted' && questions.length === 0)) {
    const isFailed = status === 'failed'
    const message = isFailed ? (error ?? 'The agent has failed.') : 'The answer was cancelled.'
    chat.end = { status: isFailed ? 'failed' : 'canceled', error: message }
    const code = isFailed ? 'run_failed' : 'run_cancelled'
    emit(chat, { error: { message, type: 'server_error', param: null, code } })
    return
  }
  chat.end = { status: questions.length === 0 ? 'completed' : 'asks' }
  if (questions.length === 0) {
    const calls = clientCalls(ending).map(({ id, name, arguments: args }) => callOf(id, name, args))
    finish(chat, calls.length > 0 ? 'tool_calls' : (REASONS[reasonOf(ending) ?? 'stop'] ?? 'stop'), calls)
  } else if (head.asksInText) {
    addText(chat, 'questions', questions.map(questionText).join(BETWEEN))
    finish(chat, 'stop')
  } else {
    const { threadId, questionTool } = head
    const calls = questions.map((one) =>
      callOf(idOf('call', threadId, one.id), questionTool, argumentsOf(one)),
    )
    finish(chat, 'tool_calls', calls)
  }
}

function finish(chat: Completion, reason: string, calls: readonly object[] = []): void {
  chat.finish = reason
  chat.toolCalls = calls
  if (calls.length > 0) writeChunk(chat, { tool_calls: calls.map((call, index) => ({ index, ...call })) })
  writeChunk(chat, {}, reason)
  if (!chat.head.includeUsage) return
  const usage = chatUsage(chat.ending.used)
  emit(chat, { ...chat.about, object: 'chat.completion.chunk', choices: [], usage })
}

function completionOf({ about, texts, thoughts, toolCalls, finish, ending }: Completion): object {
  const content = textIn(texts, BETWEEN)
  const reasoning = textIn(thoughts, BETWEEN)
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
    usage: chatUsage(ending.used),
  }
}

const textIn = (parts: readonly Sent[], between: string): string =>
  parts
    .filter(({ isVoid }) => !isVoid)
    .map(({ text }) => text)
    .join(between)

const callOf = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const REASONS: Readonly<Partial<Record<string, string>>> = {
  length: 'length',
  contentFilter: 'content_filter',
}
