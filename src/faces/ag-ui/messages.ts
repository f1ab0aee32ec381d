import { mediaTypeOf } from '../../messages/content.ts'
import { type ContentBlock, decodeMessage, type Message, textOf } from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'
import { defined, itemsOf } from '../../messages/record.ts'
import { modelCallId, withCallNames } from '../../messages/unique-calls.ts'
import type { WaitingCall } from '../kit/reading/approvals.ts'
import type { ContentPart, IncomingMessage } from './wire.ts'

/** A message in AG-UI's format. */
export interface AgUiMessage {
  readonly id: string
  readonly role: string
  readonly [field: string]: unknown
}

/** The messages of a state in the normal form. Undefined if the agent keeps none. */
export function messagesIn(values: Readonly<Record<string, unknown>> | undefined): Message[] | undefined {
  if (!Array.isArray(values?.messages)) return undefined
  const decoded = itemsOf(values.messages).flatMap((message, at) => {
    const read = decodeMessage(message)
    // Clients need an id, and a history only grows, so the index is stable.
    return read ? [{ ...read, id: read.id ?? `message-at-${at}` }] : []
  })
  return [...withCallNames(decoded)]
}

/**
 * The id of a reasoning block. It counts the reasoning blocks of its message, because streams and states
 * number blocks differently.
 */
export const reasoningId = (messageId: string, at: number): string => `${messageId}:reasoning-${at}`

/** The id of a call's result. The result message's own id is unknown until it is in the state. */
export const resultId = (callId: string): string => `${callId}:result`

/** Marks results that a client has sent. They keep the client's id. */
const OF_CLIENT = 'ag_ui'

/** Messages in AG-UI's format, in the order that clients build from the events. */
export function toClient(messages: readonly Message[]): AgUiMessage[] {
  const all: AgUiMessage[] = []
  /** A result goes after the message with its call, and after that message's earlier results. */
  const callers = new Map<string, AgUiMessage>()
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId))
  const results = new Map<AgUiMessage | undefined, AgUiMessage[]>()
  const insert = (result: AgUiMessage, callId: string): void => {
    const before = callers.get(callId) ?? all.at(-1)
    const own = results.get(before)
    if (own) own.push(result)
    else results.set(before, [result])
  }
  for (const message of messages) {
    const { id = '', role, name, content } = message
    if (role === 'tool') {
      const callId = message.toolCallId ?? ''
      const isOfClient = Object.hasOwn(message.metadata ?? {}, OF_CLIENT)
      const result = resultOf(callId, resultText(content))
      insert(isOfClient ? { ...result, id } : result, callId)
    } else if (role === 'assistant') {
      let own: Record<string, unknown> | undefined
      const write = (): Record<string, unknown> => {
        if (own) return own
        own = { id, role }
        all.push(own as unknown as AgUiMessage)
        return own
      }
      let thoughts = 0
      for (const block of content) {
        if (block.type === 'reasoning') {
          const thoughtId = reasoningId(id, thoughts++)
          if (block.text !== '') all.push({ id: thoughtId, role: 'reasoning', content: block.text })
        } else if (block.type === 'text' && block.text !== '') {
          const whole = write()
          whole.content = `${whole.content ?? ''}${block.text}`
        } else if (block.type === 'serverToolResult') {
          const { toolCallId, output } = block
          insert(resultOf(toolCallId, outputText(output)), toolCallId)
        }
        const call = callOf(block)
        if (!call) continue
        const whole = write()
        ;((whole.toolCalls ??= []) as object[]).push(call)
        callers.set(call.id, whole as unknown as AgUiMessage)
        if (block.type === 'invalidToolCall' && !answered.has(call.id))
          insert(resultOf(call.id, block.error), call.id)
      }
    } else if (!isSummary(message)) {
      all.push({
        id,
        role,
        content: role === 'user' ? contentOf(content) : textOf(message),
        ...defined({ name }),
      })
    }
  }
  const resultsOf = (message: AgUiMessage | undefined) => results.get(message) ?? []
  return [...resultsOf(undefined), ...all.flatMap((message) => [message, ...resultsOf(message)])]
}

const resultOf = (callId: string, content: string): AgUiMessage => ({
  id: resultId(callId),
  role: 'tool',
  toolCallId: callId,
  content,
})

/** The call id of a block, if it is a call. */
export const callIdOf = (block: ContentBlock): string | undefined => callOf(block)?.id

function callOf(block: ContentBlock) {
  if (block.type !== 'toolCall' && block.type !== 'serverToolCall' && block.type !== 'invalidToolCall')
    return undefined
  if (block.id === undefined) return undefined
  const args = typeof block.args === 'string' ? block.args : JSON.stringify(block.args)
  return { id: block.id, type: 'function', function: { name: block.name ?? '', arguments: args } }
}

/** A tool's result as a single string, which is all that clients accept. */
export const resultText = (content: readonly ContentBlock[]): string =>
  content.every(({ type }) => type === 'text') ? textOf({ content }) : JSON.stringify(content)

const outputText = (output: unknown): string =>
  typeof output === 'string' ? output : JSON.stringify(output ?? null)

const SOURCES: Readonly<Record<string, string>> = { file: 'document' }

function contentOf(content: readonly ContentBlock[]): unknown {
  if (content.every(({ type }) => type === 'text')) return textOf({ content })
  return content.flatMap((block): object[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    if (block.type !== 'image' && block.type !== 'audio' && block.type !== 'video' && block.type !== 'file')
      return []
    const { type, base64, url, fileId, mimeType, extras } = block
    const value = base64 ?? url ?? fileId
    if (value === undefined) return []
    const from = base64 !== undefined ? 'data' : url !== undefined ? 'url' : 'file'
    const mime = mimeType ?? (from === 'data' ? 'application/octet-stream' : undefined)
    const named = typeof extras?.filename === 'string' && { metadata: { filename: extras.filename } }
    return [
      {
        type: SOURCES[type] ?? type,
        source: { type: from, value, ...defined({ mimeType: mime }) },
        ...named,
      },
    ]
  })
}

/**
 * The calls of the agent's newest message without a result: after the run has ended, the ones that wait for
 * the client.
 */
export function waitingCalls(messages: readonly Message[]): readonly WaitingCall[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const results = new Set(messages.slice(at + 1).map(({ toolCallId }) => toolCallId))
  return (messages[at]?.content ?? []).flatMap((block) =>
    block.type === 'toolCall' && block.id !== undefined && !results.has(block.id)
      ? [{ id: block.id, modelCallId: modelCallId(block), name: block.name, input: block.args }]
      : [],
  )
}

/** A user message in the normal form. */
export const userMessage = ({ id, content, name }: IncomingMessage): Message => ({
  role: 'user',
  id,
  content: blocksOf(content),
  ...defined({ name }),
})

/** The result of a client-side tool. */
export const toolMessage = ({ id, content, error }: IncomingMessage, call: WaitingCall): Message => ({
  role: 'tool',
  id,
  name: call.name,
  toolCallId: call.id,
  content: error === undefined ? blocksOf(content) : blocksOf(content || error),
  status: error === undefined ? 'success' : 'error',
  metadata: { [OF_CLIENT]: true },
})

const blocksOf = (content: IncomingMessage['content']): readonly ContentBlock[] =>
  typeof content === 'string'
    ? content === ''
      ? []
      : [{ type: 'text', text: content }]
    : (content ?? []).flatMap(blockOf)

function blockOf(part: ContentPart): readonly ContentBlock[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text ?? '' }]
  const { source = oldSource(part), filename = nameIn(part.metadata) } = part
  if (!source) return []
  const { type: from, value, mimeType } = source
  return [
    {
      type: mediaTypeOf(part.type === 'binary' ? mimeType : `${part.type}/`),
      ...(from === 'data' ? { base64: value } : from === 'url' ? { url: value } : { fileId: value }),
      ...defined({ mimeType }),
      ...(filename !== undefined && { extras: { filename } }),
    },
  ]
}

/** The name of a file in the metadata of its part. */
function nameIn(metadata: unknown): string | undefined {
  const { filename, name, title } = Object(metadata) as Readonly<Record<string, unknown>>
  return [filename, name, title].find((one) => typeof one === 'string')
}

function oldSource({ data, url, id, mimeType }: ContentPart) {
  const value = data ?? url ?? id
  if (value === undefined) return undefined
  return { type: data !== undefined ? 'data' : url !== undefined ? 'url' : 'file', value, mimeType }
}
