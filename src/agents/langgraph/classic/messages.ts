import {
  createMessageEncoder,
  decodeMessage,
  type MessageEncoder,
  type MessageEvent,
  type WireMessageEvent,
} from '../../../messages/index.ts'
import { defined, isRecord } from '../../../messages/record.ts'
import { langchain } from '../../../models/formats/providers/langchain.ts'
import { toJson } from '../../to-json.ts'
import type { EngineEvent } from '../graph.ts'

interface StreamedMessage {
  readonly id?: string
  readonly concat?: unknown
  readonly lc_kwargs?: unknown
  getType(): string
}

interface MessageMetadata {
  readonly langgraph_node?: string
  readonly langgraph_checkpoint_ns?: string
}

interface OpenMessage {
  readonly id: string
  /** The namespace of the task that writes it. */
  readonly place: string
  chunks: number
  push(chunk: unknown): readonly EngineEvent[]
  end(): readonly EngineEvent[]
}

/** Converts the message chunks of a classic run to message events of the protocol. */
export function createMessageReader(calls: CallWatch) {
  const open = new Map<string, OpenMessage>()

  function read(message: StreamedMessage, metadata: MessageMetadata): readonly EngineEvent[] {
    // Tool answers come with the state, like in version 3.
    if (message.getType() === 'tool') return []
    const isChunk = typeof message.concat === 'function'
    const place = metadata.langgraph_checkpoint_ns ?? ''
    const id = message.id ?? place
    if (!isChunk) return whole(message, id, metadata)
    const key = keyOf({ place, id })
    let writing = open.get(key)
    if (!writing) open.set(key, (writing = begin(id, place, metadata)))
    writing.chunks += 1
    return writing.push(message)
  }

  function finish(which: (message: OpenMessage) => boolean): readonly EngineEvent[] {
    return [...open.values()].filter(which).flatMap((message) => {
      open.delete(keyOf(message))
      return message.end()
    })
  }

  return {
    read,
    /** The ends of messages whose model has ended. Their chunks do not contain it. */
    finishEnded: () =>
      open.size === 0 ? [] : finish(({ place, id, chunks }) => calls.hasEnded(place, id, chunks)),
    /** The ends of messages whose task has ended. */
    finishIn: (place: string) => finish((message) => message.place === place),
    finishAll: () => finish(() => true),
  }
}

/** The models of several tasks may use the same id. */
const keyOf = ({ place, id }: Pick<OpenMessage, 'place' | 'id'>): string => `${place} ${id}`

function begin(id: string, place: string, metadata: MessageMetadata): OpenMessage {
  const reader = langchain.readStream()
  const { encoder, encode } = encoding(id, metadata)
  const start = (): readonly MessageEvent[] =>
    message.chunks === 1 ? [{ type: 'messageStart', role: 'assistant', id }] : []
  const message: OpenMessage = {
    id,
    place,
    chunks: 0,
    push: (chunk) => encode(() => [...start(), ...reader.push(chunk)].forEach(encoder.push)),
    end: () => encode(() => reader.end().forEach(encoder.push)),
  }
  return message
}

function whole(message: StreamedMessage, id: string, about: MessageMetadata): readonly EngineEvent[] {
  const read = decodeMessage(toJson(message))
  if (!read) return []
  const { role, name, content, usage, finishReason: reason, metadata } = read
  const { encoder, encode } = encoding(id, about)
  return encode(() => {
    encoder.push({ type: 'messageStart', role, id, ...defined({ name }) })
    for (const [index, block] of content.entries()) {
      const isText = block.type === 'text' || block.type === 'reasoning'
      encoder.push({ type: 'blockStart', index, block: isText ? { ...block, text: '' } : block })
      if (isText && block.text !== '')
        encoder.push({ type: 'blockDelta', index, delta: { type: block.type, text: block.text } })
      encoder.push({ type: 'blockFinish', index, block })
    }
    encoder.push({ type: 'messageFinish', ...defined({ reason, usage, metadata }) })
  })
}

/** An encoder of one message that produces engine events. */
function encoding(
  id: string,
  { langgraph_node: node, langgraph_checkpoint_ns: place = '' }: MessageMetadata,
) {
  const namespace = place === '' ? [] : place.split('|')
  let events: EngineEvent[] = []
  const encoder: MessageEncoder = createMessageEncoder((data: WireMessageEvent) =>
    events.push({
      method: 'messages',
      // Distinguishes messages that one node writes concurrently.
      params: {
        namespace,
        ...(node !== undefined && { node }),
        data: { ...data, run_id: id.replace(/^run-/, '') },
      },
    }),
  )
  const encode = (write: () => void): readonly EngineEvent[] => {
    events = []
    write()
    return events
  }
  return { encoder, encode }
}

interface ToolCall {
  readonly id: unknown
  readonly name: unknown
  readonly namespace: readonly string[]
}

/** Information about model and tool calls that the chunks of a classic run lack. */
export type CallWatch = ReturnType<typeof createCallWatch>

/**
 * Observes the calls of a run. Its callbacks run during the calls, but the chunks are read later. It
 * therefore only records where each tool was called, and how many chunks each message has.
 */
export function createCallWatch() {
  const tools: ToolCall[] = []
  const models = new Map<string, { readonly place: unknown; chunks: number }>()
  const ended = new Map<string, number>()
  const handler = {
    name: 'agentwire',
    // The engine must wait for the handlers.
    awaitHandlers: true,
    // These are not used here, and calling the handler for them would cost as much.
    ignoreChain: true,
    ignoreRetriever: true,
    ignoreCustomEvent: true,
    handleChatModelStart(...[, , runId, , , , metadata]: readonly unknown[]) {
      const place = isRecord(metadata) ? metadata.langgraph_checkpoint_ns : undefined
      models.set(String(runId), { place, chunks: 0 })
    },
    handleLLMNewToken(_token: unknown, _index: unknown, runId: string) {
      const call = models.get(runId)
      if (call) call.chunks += 1
    },
    handleLLMEnd(output: unknown, runId: string) {
      const call = models.get(runId)
      models.delete(runId)
      const { generations } = Object(output) as { readonly generations?: readonly (readonly unknown[])[] }
      const { message } = Object(generations?.[0]?.[0]) as { readonly message?: { readonly id?: unknown } }
      const id = typeof message?.id === 'string' ? message.id : `run-${runId}`
      if (call && call.chunks > 0) ended.set(`${call.place} ${id}`, call.chunks)
    },
    handleLLMError(_error: unknown, runId: string) {
      models.delete(runId)
    },
    handleToolStart(...[, , , , , metadata, name, id]: readonly unknown[]) {
      const namespace = isRecord(metadata) ? metadata.langgraph_checkpoint_ns : undefined
      if (typeof namespace === 'string')
        tools.push({ id, name: name ?? 'unknown', namespace: namespace.split('|') })
    },
  }
  return {
    /** A LangChain callback handler to pass to the run. */
    handler,
    /** The namespace of the task that called a tool. Undefined if unknown. */
    placeOf(id: unknown, name: unknown): readonly string[] | undefined {
      const at = tools.findIndex((call) => call.id === id && call.name === name)
      return at < 0 ? undefined : tools.splice(at, 1)[0]!.namespace
    },
    /** Whether the model ended the message after this number of chunks. */
    hasEnded(place: string, messageId: string, chunks: number): boolean {
      const key = `${place} ${messageId}`
      return ended.get(key) === chunks && ended.delete(key)
    },
  }
}
