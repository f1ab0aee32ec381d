import {
  type ContentBlock,
  decodeMessage,
  encodeMessage,
  type MediaBlock,
  type Message,
  type TextBlock,
  textOf,
  type Usage,
} from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'
import { itemsOf } from '../../messages/record.ts'
import { modelCallId, withCallNames } from '../../messages/unique-calls.ts'
import {
  type ChatPart,
  type FilePart,
  type SourcePart,
  type TokenUsage,
  type ToolPart,
  type ToolState,
  UNFINISHED,
} from './ui-message.ts'

/** How tool calls are shown. */
export interface Shape {
  readonly isDynamic: boolean
  /** The client-side tools. */
  readonly ofClient: ReadonlySet<string>
}

/** A user message and the assistant's answer to it. Each is one message on the page. */
export interface Turn {
  /** Undefined if the assistant speaks first. */
  readonly user: Message | undefined
  readonly userId: string | undefined
  /** The messages of the assistant and its tools. */
  readonly replies: readonly Message[]
}

/** A call without a result. */
export interface OpenCall {
  readonly id: string
  /** Its id in the state. */
  readonly modelCallId?: string
  readonly name: string
  readonly input: unknown
}

export function turnsOf(messages: unknown): readonly Turn[] {
  const turns: { user: Message | undefined; userId: string | undefined; replies: Message[] }[] = []
  const decoded = itemsOf(messages).map((raw) => decodeMessage(raw) ?? NONE)
  for (const [at, message] of withCallNames(decoded).entries()) {
    if (message === NONE || isSummary(message)) continue
    if (message.role === 'user')
      turns.push({ user: message, userId: message.id ?? `user-${at}`, replies: [] })
    else if (message.role === 'assistant' || message.role === 'tool') {
      if (turns.length === 0) turns.push({ user: undefined, userId: undefined, replies: [] })
      turns.at(-1)!.replies.push(message)
    }
  }
  return turns
}

/** Stands for a message that is none, so that the others keep their places. */
const NONE: Message = { role: 'system', content: [] }

export const lastTurn = (messages: unknown): Turn =>
  turnsOf(messages).at(-1) ?? { user: undefined, userId: undefined, replies: [] }

const REPLY = 'reply-'
/** The id of the assistant's messages before the first user message. */
const GREETING = 'greeting'

/**
 * The id of the message that answers a user message. It only depends on the thread, so that a stream, a
 * resumed stream and the history have the same id, whichever protocol started the run.
 */
export const replyId = (userId: string | undefined): string =>
  userId === undefined ? GREETING : `${REPLY}${userId}`

/** The user message that an assistant message answers. */
export const userIdOf = (id: string): string | undefined =>
  id.startsWith(REPLY) ? id.slice(REPLY.length) : undefined

/** The parts of one answer. `isOver`: the answer has ended, so its open calls will get no result. */
export function partsOf(replies: readonly Message[], shape: Shape, isOver: boolean): ChatPart[] {
  const results = resultsIn(replies)
  return replies.flatMap((message): ChatPart[] => {
    if (message.role !== 'assistant') return []
    const own = new Map<string, ToolState>()
    for (const block of message.content)
      if (block.type === 'serverToolResult')
        own.set(block.toolCallId, serverState(block.status, block.output))
    const stateOf = (id: string, name: string): ToolState => {
      const result = results.get(id)
      if (result) return toolState(result.status ?? 'success', result, textOf(result))
      const isOurs = isOver && !shape.ofClient.has(name)
      return own.get(id) ?? (isOurs ? UNFINISHED_STATE : { state: 'input-available' })
    }
    return [
      { type: 'step-start' },
      ...message.content.flatMap((block) => partsOfBlock(block, shape, stateOf)),
    ]
  })
}

export const UNFINISHED_STATE: ToolState = { state: 'output-error', errorText: UNFINISHED }

function partsOfBlock(
  block: ContentBlock,
  shape: Shape,
  stateOf: (id: string, name: string) => ToolState,
): readonly ChatPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', text: block.text, state: 'done' }, ...sourcesOf(block)]
    case 'reasoning':
      return block.text === '' ? [] : [{ type: 'reasoning', text: block.text, state: 'done' }]
    case 'toolCall':
    case 'serverToolCall': {
      const { id, name, args } = block
      return id === undefined ? [] : [toolPart({ id, name, input: args }, shape, stateOf(id, name))]
    }
    case 'invalidToolCall': {
      const { id, name = 'unknown', args: input, error } = block
      if (id === undefined) return []
      return [toolPart({ id, name, input }, shape, { state: 'output-error', errorText: error })]
    }
    case 'serverToolResult':
    case 'nonStandard':
      return []
    default:
      return filesOf(block)
  }
}

/** The fields that identify a call. A page does not run server-side tools. */
export const toolFlags = (name: string, { isDynamic, ofClient }: Shape) => ({
  ...(!ofClient.has(name) && { providerExecuted: true as const }),
  ...(isDynamic && { dynamic: true as const }),
})

export function toolPart({ id, name, input }: OpenCall, shape: Shape, state: ToolState): ToolPart {
  const kind = shape.isDynamic
    ? { type: 'dynamic-tool' as const, toolName: name }
    : { type: `tool-${name}` as const }
  const { providerExecuted } = toolFlags(name, shape)
  return { ...kind, toolCallId: id, ...state, input, ...(providerExecuted && { providerExecuted }) }
}

/** The state of a call, from its tool message. */
export const toolState = (
  status: 'success' | 'error',
  message: Message | undefined,
  text: string,
): ToolState =>
  status === 'error'
    ? { state: 'output-error', errorText: text }
    : { state: 'output-available', output: outputOf(message, text) }

export const serverState = (status: 'success' | 'error', output: unknown): ToolState =>
  status === 'error'
    ? {
        state: 'output-error',
        errorText: typeof output === 'string' ? output : (JSON.stringify(output) ?? ''),
      }
    : { state: 'output-available', output: output ?? null }

/** Tools return objects and arrays as JSON text. Content other than text is returned as blocks. */
function outputOf(message: Message | undefined, text: string): unknown {
  if (message?.content.some(({ type }) => type !== 'text')) return encodeMessage(message).content
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The answer's calls without a result. */
export function openCalls(replies: readonly Message[]): readonly OpenCall[] {
  const results = resultsIn(replies)
  return replies
    .flatMap(({ content }) => content)
    .flatMap((block) =>
      block.type === 'toolCall' && block.id !== undefined && !results.has(block.id)
        ? [{ id: block.id, modelCallId: modelCallId(block), name: block.name, input: block.args }]
        : [],
    )
}

const resultsIn = (replies: readonly Message[]): ReadonlyMap<string | undefined, Message> =>
  new Map(replies.filter(({ role }) => role === 'tool').map((message) => [message.toolCallId, message]))

export const usageOf = (replies: readonly Message[]): TokenUsage | undefined =>
  replies.reduce<TokenUsage | undefined>(
    (sum, { role, usage }) => (role === 'assistant' ? added(sum, usage) : sum),
    undefined,
  )

export const added = (sum: TokenUsage | undefined, usage: Usage | undefined): TokenUsage | undefined =>
  usage
    ? {
        inputTokens: (sum?.inputTokens ?? 0) + usage.inputTokens,
        outputTokens: (sum?.outputTokens ?? 0) + usage.outputTokens,
        totalTokens: (sum?.totalTokens ?? 0) + usage.totalTokens,
      }
    : sum

/** The citations of a text, each source once. */
export function sourcesOf({ annotations = [] }: TextBlock): readonly SourcePart[] {
  const sources = new Map<string, SourcePart>()
  for (const one of annotations) {
    if (one.type !== 'citation') continue
    const { url, title } = one
    const sourceId = one.id ?? url ?? title
    if (sourceId === undefined) continue
    if (url !== undefined)
      sources.set(sourceId, { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) })
    else
      sources.set(sourceId, {
        type: 'source-document',
        sourceId,
        mediaType: 'text/plain',
        title: title ?? sourceId,
      })
  }
  return [...sources.values()]
}

/** A media block as a file. One that only the provider stores cannot be shown. */
export function filesOf(block: MediaBlock): readonly FilePart[] {
  const { type, url, base64, mimeType = ANY_OF[type], extras } = block
  const source = url ?? (base64 === undefined ? undefined : `data:${mimeType};base64,${base64}`)
  if (source === undefined) return []
  const name = typeof extras?.filename === 'string' && { filename: extras.filename }
  return [{ type: 'file', mediaType: mimeType, url: source, ...name }]
}

const ANY_OF = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  file: 'application/octet-stream',
} as const
