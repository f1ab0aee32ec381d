import type { WireDelta } from '../../../messages/index.ts'
import type { EventData } from '../../../messages/thread-events/index.ts'
import { appendDelta } from '../../../messages/wire/decode-events.ts'
import type { Fields } from './frame.ts'

type MessageData = EventData['messages']

type Block = Record<string, unknown>

/** A model's message while it is streamed, in LangChain's flat form. */
export interface MessageDraft {
  readonly id: string
  /** Adds an event of the channel `messages`. Returns its part of the message as a chunk, if any. */
  push(data: MessageData): Fields | undefined
  /** The message so far. */
  message(): Fields
  /** Whether exactly one event has added something so far. */
  isFirst(): boolean
}

export function createMessageDraft({
  id = '',
  name,
}: Pick<Extract<MessageData, { event: 'message-start' }>, 'id' | 'name'>): MessageDraft {
  const blocks = new Map<number, Block>()
  /** The length of each call's arguments in the chunks so far. */
  const sent = new Map<number, number>()
  let about: Fields = {}
  let usage: unknown
  let pushes = 0

  const flat = (content: unknown, more: Fields): Fields => ({
    type: 'ai',
    id,
    ...(name !== undefined && { name }),
    content,
    additional_kwargs: {},
    response_metadata: {},
    tool_calls: [],
    invalid_tool_calls: [],
    ...more,
  })
  const chunk = (content: unknown, calls: readonly Fields[] = []): Fields =>
    flat(content, { tool_call_chunks: calls })

  function read(data: MessageData): Fields | undefined {
    switch (data.event) {
      case 'content-block-start':
        blocks.set(data.index, { ...data.content })
        return undefined
      case 'content-block-delta':
        return append(data.index, blocks.get(data.index) ?? {}, data.delta)
      case 'content-block-finish': {
        const before = blocks.get(data.index)?.args
        const block: Block = { ...data.content }
        blocks.set(data.index, block)
        if (block.type !== 'tool_call' && block.type !== 'invalid_tool_call') return undefined
        // Arguments may end without a delta of their own.
        const args = typeof before === 'string' && before !== '' ? before : JSON.stringify(block.args ?? {})
        return (sent.get(data.index) ?? 0) < args.length ? callChunk(data.index, block, args) : undefined
      }
      case 'message-finish':
        usage = data.usage
        about = data.responseMetadata ?? {}
        return { ...chunk(''), ...ended() }
      default:
        return undefined
    }
  }

  function append(at: number, block: Block, delta: WireDelta): Fields | undefined {
    blocks.set(at, block)
    appendDelta(block, delta)
    switch (delta.type) {
      case 'text-delta':
        return chunk(delta.text)
      case 'reasoning-delta':
        return chunk([{ type: 'reasoning', reasoning: delta.reasoning, index: at }])
      case 'data-delta':
        return chunk([{ type: block.type, data: delta.data, index: at }])
      case 'block-delta': {
        const { args } = delta.fields
        return typeof args === 'string' ? callChunk(at, block, args) : undefined
      }
    }
  }

  /** The new part of a call's arguments. The first chunk names the call. */
  function callChunk(at: number, { id: callId, name: tool }: Block, args: string): Fields {
    const length = sent.get(at) ?? 0
    sent.set(at, args.length)
    const named = length === 0 && { id: callId, name: tool }
    return chunk('', [{ type: 'tool_call_chunk', index: at, args: args.slice(length), ...named }])
  }

  const ended = (): Fields => ({
    response_metadata: about,
    ...(usage !== undefined && usage !== null && { usage_metadata: usage }),
  })

  return {
    id,
    push(data) {
      const added = read(data)
      if (added) pushes += 1
      return added
    },
    message() {
      const all = [...blocks.values()]
      const content = all.filter(({ type }) => !CALLS.has(String(type)))
      const isText = content.every(({ type }) => type === 'text')
      return flat(isText ? content.map(({ text }) => text ?? '').join('') : content, {
        tool_calls: all.filter(({ type }) => type === 'tool_call'),
        invalid_tool_calls: all.filter(({ type }) => type === 'invalid_tool_call'),
        ...ended(),
      })
    },
    isFirst: () => pushes === 1,
  }
}

const CALLS = new Set(['tool_call', 'tool_call_chunk', 'invalid_tool_call'])
