import type { EventData } from '../../events/index.ts'
import type { WireDelta } from '../../messages/index.ts'
import type { Fields } from './frame.ts'

type MessageData = EventData['messages']

type Block = Record<string, unknown>

/** A message of a model while it is written, in LangChain's flat form. */
export interface MessageDraft {
  readonly id: string
  /** Adds an event of the channel `messages`. Gives what it adds to the message as a chunk, where it adds something. */
  push(data: MessageData): Fields | undefined
  /** The message so far. */
  message(): Fields
  /** Whether one event alone has added something by now. */
  isFirst(): boolean
}

export function createMessageDraft({
  id = '',
  name,
}: Pick<Extract<MessageData, { event: 'message-start' }>, 'id' | 'name'>): MessageDraft {
  const blocks = new Map<number, Block>()
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

  function push(data: MessageData): Fields | undefined {
    const chunk = read(data)
    if (chunk) pushes += 1
    return chunk
  }

  function read(data: MessageData): Fields | undefined {
    switch (data.event) {
      case 'content-block-start':
        blocks.set(data.index, { ...data.content })
        return undefined
      case 'content-block-delta':
        return append(data.index, blocks.get(data.index) ?? {}, data.delta)
      case 'content-block-finish': {
        const { index: at } = data
        const before = blocks.get(at)
        const block: Block = { ...data.content }
        blocks.set(at, block)
        // Arguments may end without a delta of their own.
        if (block.type !== 'tool_call' && block.type !== 'invalid_tool_call') return undefined
        const sent = String(before?.sent ?? '')
        const all = String(before?.args ?? '') || JSON.stringify(block.args ?? {})
        return sent.length < all.length
          ? callChunk(at, block, all.slice(sent.length), sent === '')
          : undefined
      }
      case 'message-finish':
        usage = data.usage
        about = data.responseMetadata ?? {}
        return flat('', { ...ended(), tool_call_chunks: [] })
      default:
        return undefined
    }
  }

  function append(at: number, block: Block, delta: WireDelta): Fields | undefined {
    blocks.set(at, block)
    switch (delta.type) {
      case 'text-delta':
        block.text = `${block.text ?? ''}${delta.text}`
        return flat(delta.text, { tool_call_chunks: [] })
      case 'reasoning-delta':
        block.reasoning = `${block.reasoning ?? ''}${delta.reasoning}`
        return flat([{ type: 'reasoning', reasoning: delta.reasoning, index: at }], { tool_call_chunks: [] })
      case 'data-delta':
        block.data = `${block.data ?? ''}${delta.data}`
        return flat([{ type: block.type, data: delta.data, index: at }], { tool_call_chunks: [] })
      case 'block-delta': {
        const { args, ...fields } = delta.fields
        Object.assign(block, fields)
        if (typeof args !== 'string') return undefined
        const sent = String(block.sent ?? '')
        block.args = args
        block.sent = args
        return callChunk(at, block, args.slice(sent.length), sent === '')
      }
    }
  }

  function callChunk(at: number, { id: callId, name: tool }: Block, args: string, isFirst: boolean): Fields {
    const call = { type: 'tool_call_chunk', index: at, args, ...(isFirst && { id: callId, name: tool }) }
    return flat('', { tool_call_chunks: [call] })
  }

  const ended = (): Fields => ({
    response_metadata: about,
    ...(usage !== undefined && usage !== null && { usage_metadata: usage }),
  })

  function message(): Fields {
    const all = [...blocks.values()]
    const content = all.filter(({ type }) => !CALLS.has(String(type)))
    const isText = content.every(({ type }) => type === 'text')
    return flat(isText ? content.map(({ text }) => text ?? '').join('') : content, {
      tool_calls: all.filter(({ type }) => type === 'tool_call'),
      invalid_tool_calls: all.filter(({ type }) => type === 'invalid_tool_call'),
      ...ended(),
    })
  }

  return { id, push, message, isFirst: () => pushes === 1 }
}

const CALLS = new Set(['tool_call', 'tool_call_chunk', 'invalid_tool_call'])
