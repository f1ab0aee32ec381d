import type { WireDelta } from '../../../messages/index.ts'
import {
  createOpenMessages,
  type EventData,
  type ThreadEvent,
} from '../../../messages/thread-events/index.ts'
import { appendDelta } from '../../../messages/wire/decode-events.ts'
import { type Fields, type Frame, type FrameRequest, fieldsOf, graphOf } from './frame.ts'

const NOTHING: readonly Frame[] = []

/** The frames of streamed messages and of messages in states. */
export function createMessageFrames({ threadId, runId, modes, isClassic }: FrameRequest) {
  const drafts = createOpenMessages(({ data }: ThreadEvent<'messages'>) =>
    data.event === 'message-start' && (data.role ?? 'ai') === 'ai' ? createMessageDraft(data) : undefined,
  )
  const noted = new Map<unknown, unknown>()
  const completed = new Set<unknown>()
  const wantsPartial = modes.includes('messages')
  const wantsTuples = modes.includes('messages-tuple') && !isClassic

  function ofEvent(event: ThreadEvent<'messages'>): readonly Frame[] {
    const draft = drafts.of(event)
    const chunk = draft?.push(event.data)
    if (!draft || !chunk) return NOTHING
    const metadata = noted.get(draft.id) ?? metadataOf(event)
    return [
      ...(wantsPartial && draft.isFirst() ? [frame('metadata', { [draft.id]: { metadata } })] : []),
      ...(wantsPartial ? [frame('partial', [draft.message()])] : []),
      ...(wantsTuples ? [tuple(graphOf(event.namespace), [chunk, metadata])] : []),
    ]
  }

  /** A message's metadata, as far as the log has it, because no REST client requested the run. */
  const metadataOf = ({ namespace, node }: ThreadEvent<'messages'>): Fields => ({
    thread_id: threadId,
    run_id: runId,
    ...(node !== undefined && { langgraph_node: node }),
    langgraph_checkpoint_ns: namespace.join('|'),
    checkpoint_ns: namespace.join('|'),
  })

  return {
    /** Whether message events produce frames. */
    areWanted: wantsPartial || wantsTuples,
    of: ofEvent,
    /** Stores the metadata of a new message. */
    note({ id, metadata }: Fields): void {
      noted.set(id, metadata)
    },
    /** Whether messages in states produce frames. */
    wantsStates: wantsPartial,
    /** The messages of a state that no earlier state had. */
    complete(namespace: readonly string[], state: unknown): readonly Frame[] {
      const { messages } = fieldsOf(state)
      if (namespace.length > 0 || !Array.isArray(messages)) return NOTHING
      const fresh = messages.filter((message) => {
        const { id } = fieldsOf(message)
        return typeof id === 'string' && !completed.has(id) && completed.add(id)
      })
      return fresh.length === 0
        ? NOTHING
        : [{ mode: 'messages', event: 'messages/complete', namespace, data: fresh }]
    },
  }
}

/** The names of these events have no namespace, and subgraph events are never left out. */
const frame = (event: string, data: unknown): Frame => ({
  mode: 'messages',
  event: `messages/${event}`,
  namespace: [],
  data,
  isOfMessage: true,
})

const tuple = (namespace: readonly string[], data: unknown): Frame => ({
  mode: 'messages-tuple',
  event: 'messages',
  namespace,
  data,
  isOfMessage: true,
})

type MessageData = EventData['messages']

type Block = Record<string, unknown>

/** A model's message while it is streamed, in LangChain's flat form, with its blocks as they were logged. */
interface MessageDraft {
  readonly id: string
  /** Adds an event of the channel `messages`. Returns its part of the message as a chunk, if any. */
  push(data: MessageData): Fields | undefined
  /** The message so far. */
  message(): Fields
  /** Whether exactly one event has added something so far. */
  isFirst(): boolean
}

function createMessageDraft({
  id = '',
  name,
}: Pick<Extract<MessageData, { event: 'message-start' }>, 'id' | 'name'>): MessageDraft {
  const blocks: Blocks = { all: new Map(), sent: new Map() }
  let end: Fields = { response_metadata: {} }
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

  function read(data: MessageData): Fields | undefined {
    if (data.event !== 'message-finish') {
      const piece = pieceOf(blocks, data)
      return piece && flat(piece.content, { tool_call_chunks: piece.calls ?? [] })
    }
    const { usage, responseMetadata = {} } = data
    end = { response_metadata: responseMetadata, ...((usage ?? null) !== null && { usage_metadata: usage }) }
    return flat('', { tool_call_chunks: [], ...end })
  }

  return {
    id,
    push(data) {
      const added = read(data)
      if (added) pushes += 1
      return added
    },
    message() {
      const all = [...blocks.all.values()]
      const content = all.filter(({ type }) => !CALLS.has(String(type)))
      const isText = content.every(({ type }) => type === 'text')
      return flat(isText ? content.map(({ text }) => text ?? '').join('') : content, {
        tool_calls: all.filter(({ type }) => type === 'tool_call'),
        invalid_tool_calls: all.filter(({ type }) => type === 'invalid_tool_call'),
        ...end,
      })
    },
    isFirst: () => pushes === 1,
  }
}

const CALLS = new Set(['tool_call', 'tool_call_chunk', 'invalid_tool_call'])

interface Blocks {
  /** The blocks so far, by index. */
  readonly all: Map<number, Block>
  /** The length of each call's arguments in the chunks so far. */
  readonly sent: Map<number, number>
}

/** What an event adds to the content of a message. */
interface Piece {
  readonly content: unknown
  readonly calls?: readonly Fields[]
}

function pieceOf(blocks: Blocks, data: MessageData): Piece | undefined {
  switch (data.event) {
    case 'content-block-start':
      blocks.all.set(data.index, { ...data.content })
      return undefined
    case 'content-block-delta':
      return append(blocks, data.index, data.delta)
    case 'content-block-finish': {
      const before = blocks.all.get(data.index)?.args
      const block: Block = { ...data.content }
      blocks.all.set(data.index, block)
      if (block.type !== 'tool_call' && block.type !== 'invalid_tool_call') return undefined
      // Arguments may end without a delta of their own.
      const args = typeof before === 'string' && before !== '' ? before : JSON.stringify(block.args ?? {})
      return (blocks.sent.get(data.index) ?? 0) < args.length
        ? callPiece(blocks, data.index, block, args)
        : undefined
    }
    default:
      return undefined
  }
}

function append(blocks: Blocks, at: number, delta: WireDelta): Piece | undefined {
  const block = blocks.all.get(at) ?? {}
  blocks.all.set(at, block)
  appendDelta(block, delta)
  switch (delta.type) {
    case 'text-delta':
      return { content: delta.text }
    case 'reasoning-delta':
      return { content: [{ type: 'reasoning', reasoning: delta.reasoning, index: at }] }
    case 'data-delta':
      return { content: [{ type: block.type, data: delta.data, index: at }] }
    case 'block-delta': {
      const { args } = delta.fields
      return typeof args === 'string' ? callPiece(blocks, at, block, args) : undefined
    }
  }
}

/** The new part of a call's arguments. The first one names the call. */
function callPiece({ sent }: Blocks, at: number, { id, name }: Block, args: string): Piece {
  const length = sent.get(at) ?? 0
  sent.set(at, args.length)
  const named = length === 0 && { id, name }
  return {
    content: '',
    calls: [{ type: 'tool_call_chunk', index: at, args: args.slice(length), ...named }],
  }
}
