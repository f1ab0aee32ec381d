import type { AnswerEnd } from '../../engine/index.ts'
import type { FinishReason as ModelReason } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { AnswerItem, CallRef, MessageRef } from '../kit/reading/answer-item.ts'
import { type Chunk, chunksOf, chunksOfState, type FinishReason, toolChunk } from './chunks.ts'
import {
  added,
  filesOf,
  type OpenCall,
  openCalls,
  partsOf,
  type Shape,
  serverState,
  sourcesOf,
  type Turn,
  toolState,
  UNFINISHED_STATE,
  usageOf,
} from './parts.ts'
import { type ApprovalRequest, openQuestions, questionPart } from './questions.ts'
import type { TokenUsage } from './ui-message.ts'

/**
 * Sent chunks cannot be retracted, or the log has lost the next events. The page must read the answer again
 * from its start.
 */
export class StreamLost extends Error {}

export interface ChunkWriter {
  /**
   * Starts a message with this id. `replies` is what the answer has written before: a page that reads the
   * whole answer receives it, a page that continues the answer already has it.
   */
  begin(messageId: string, replies: Turn['replies'], isKnown: boolean): readonly Chunk[]
  /** Throws `StreamLost`. */
  push(item: AnswerItem): readonly Chunk[]
  end(end: AnswerEnd): readonly Chunk[]
}

/** What a subagent or a running tool has written so far. */
interface Preview {
  text: string
  sent: number
}

/**
 * Writes the items of an answer as the chunks of a message. `refused`: the calls that the page has just
 * rejected.
 */
export function createChunkWriter(shape: Shape, refused: ReadonlySet<string> = new Set()): ChunkWriter {
  /** Calls without a result. */
  const calls = new Map<string, OpenCall>()
  const sentMessages = new Set<string>()
  const sentCalls = new Set<string>()
  /**
   * Calls of the page's tools whose message is not in the state yet. A page runs a call as soon as its input
   * is complete.
   */
  const held = new Map<string, { readonly messageId: string; readonly chunk: Chunk }>()
  const kept = new Set<string>()
  /** Open text and reasoning parts. */
  const open = new Set<string>()
  const previews = new Map<string, Preview>()
  /** The messages that are being streamed, and whether they have shown something. Each message is a step. */
  const writing = new Map<string, boolean>()
  let usage: TokenUsage | undefined
  let reason: ModelReason | undefined

  function begin(messageId: string, replies: Turn['replies'], isKnown: boolean): readonly Chunk[] {
    usage = usageOf(replies)
    for (const call of openCalls(replies)) calls.set(call.id, call)
    const start: Chunk = { type: 'start', messageId }
    if (isKnown) return [start]
    const parts = partsOf(replies, shape, false)
    return [start, ...parts.flatMap((part, at) => chunksOf(part, `before:${at}`, shape)), ...usageChunks()]
  }

  const usageChunks = (): readonly Chunk[] =>
    usage ? [{ type: 'message-metadata', messageMetadata: { usage } }] : []

  function delta(type: 'text' | 'reasoning', id: string, text: string): readonly Chunk[] {
    const more: Chunk = { type: `${type}-delta`, id, delta: text }
    if (open.has(id)) return [more]
    open.add(id)
    return [{ type: `${type}-start`, id }, more]
  }

  const endOf = (type: 'text' | 'reasoning', id: string): readonly Chunk[] =>
    open.delete(id) ? [{ type: `${type}-end`, id }] : []

  /**
   * Sends what a call has written so far, each time it has grown by a tenth. The total sent stays
   * proportional to the text.
   */
  function preview(callId: string, text: string): readonly Chunk[] {
    if (!calls.has(callId)) return []
    const known = previews.get(callId) ?? { text: '', sent: 0 }
    previews.set(callId, known)
    known.text += text
    if (known.text.length < known.sent * 1.1) return []
    known.sent = known.text.length
    return [{ type: 'tool-output-available', toolCallId: callId, output: known.text, preliminary: true }]
  }

  /** An item of a subagent. The page sees its text as the preliminary output of its call. */
  function ofSubagent(owner: string, item: AnswerItem): readonly Chunk[] {
    if (item.type === 'messageStart') previews.delete(owner)
    return item.type === 'textDelta' ? preview(owner, item.text) : []
  }

  /** A step starts with the first item that it shows, so that messages of parallel models do not mix. */
  function push(item: AnswerItem): readonly Chunk[] {
    const owner = ownerOf(item)
    if (owner !== null) return ofSubagent(owner, item)
    const id = SHOWN.has(item.type) ? messageIdOf(item) : undefined
    if (id === undefined || writing.get(id) !== false) return chunksOfItem(item)
    writing.set(id, true)
    return [{ type: 'start-step' }, ...chunksOfItem(item)]
  }

  function chunksOfItem(item: AnswerItem): readonly Chunk[] {
    switch (item.type) {
      case 'messageStart':
        writing.set(item.message.id, false)
        sentMessages.add(item.message.id)
        return []
      case 'messageEnd': {
        writing.delete(item.message.id)
        usage = added(usage, item.whole.usage)
        reason = item.whole.finishReason
        // In early releases of version 6, finishing a step also closes the open texts of other steps.
        const step: readonly Chunk[] = writing.size === 0 ? [{ type: 'finish-step' }] : []
        return item.whole.usage ? [...step, ...usageChunks()] : step
      }
      case 'textDelta':
        return delta('text', keyOf(item), item.text)
      case 'textEnd':
        return [...endOf('text', keyOf(item)), ...sourcesOf(item.block)]
      case 'reasoningDelta':
        return delta('reasoning', keyOf(item), item.text)
      case 'reasoningEnd':
        return endOf('reasoning', keyOf(item))
      case 'media':
        return filesOf(item.block).map(({ mediaType, url }) => ({ type: 'file', mediaType, url }))
      case 'callStart': {
        const { id, name } = item.call
        calls.set(id, { id, name, input: undefined })
        sentCalls.add(id)
        return [{ type: 'tool-input-start', ...toolChunk(id, name, shape) }]
      }
      case 'callArgs':
        return [{ type: 'tool-input-delta', toolCallId: item.call.id, inputTextDelta: item.args }]
      case 'callEnd': {
        const { id, name, messageId } = item.call
        calls.set(id, { id, name, input: item.input })
        const chunk: Chunk = {
          type: 'tool-input-available',
          ...toolChunk(id, name, shape),
          input: item.input,
        }
        if (!shape.ofClient.has(name) || messageId === null || kept.has(messageId)) return [chunk]
        held.set(id, { messageId, chunk })
        return []
      }
      case 'callInvalid': {
        const { id, name } = item.call
        calls.delete(id)
        const { input, error: errorText } = item
        return [{ type: 'tool-input-error', ...toolChunk(id, name, shape), input, errorText }]
      }
      case 'callOutput':
        return preview(item.call.id, item.text)
      case 'callResult': {
        const { id, isServer } = item.call
        calls.delete(id)
        if (refused.has(id)) return [{ type: 'tool-output-denied', toolCallId: id }]
        const { status, message, text, output } = item
        return chunksOfState(isServer ? serverState(status, output) : toolState(status, message, text), id)
      }
      case 'subagentStart':
        return [subagentChunk(item.call, item.name, 'running')]
      case 'subagentEnd':
        return [subagentChunk(item.call, undefined, item.status)]
      case 'custom':
        return [customChunk(item)]
      case 'kept':
        for (const id of item.messages) kept.add(id)
        return release(({ messageId }) => kept.has(messageId))
      case 'retract':
        if (item.reason === 'unused') return item.calls.flatMap(dropped)
        if (item.messages.some((id) => sentMessages.has(id)) || item.calls.some((id) => sentCalls.has(id)))
          throw new StreamLost('A process was lost, and what it has written is void.')
        return []
      case 'gap':
        throw new StreamLost('The log has lost a part of the answer.')
      default:
        return []
    }
  }

  /** The inputs of held calls. */
  function release(which: (call: { readonly messageId: string }) => boolean): readonly Chunk[] {
    return [...held].flatMap(([id, call]) => (which(call) && held.delete(id) ? [call.chunk] : []))
  }

  /**
   * Ends a call that is not in the state. Sent texts stay on the page until it reads the answer again. The
   * page never gets a complete call of its own tools.
   */
  function dropped(id: string): readonly Chunk[] {
    const call = calls.get(id)
    held.delete(id)
    calls.delete(id)
    return call && !shape.ofClient.has(call.name) ? unfinishedChunks(call) : []
  }

  const unfinishedChunks = ({ id, name, input }: OpenCall): readonly Chunk[] => [
    // The stream ended while its arguments were being written.
    ...(input === undefined
      ? [{ type: 'tool-input-available' as const, ...toolChunk(id, name, shape), input: {} }]
      : []),
    ...chunksOfState(UNFINISHED_STATE, id),
  ]

  function requestChunks({ approvalId, call, isShown }: ApprovalRequest): readonly Chunk[] {
    const { id, name, input } = call
    const request: Chunk = { type: 'tool-approval-request', approvalId, toolCallId: id }
    return isShown
      ? [request]
      : [{ type: 'tool-input-available', ...toolChunk(id, name, shape), input }, request]
  }

  return {
    begin,
    push,
    end(end) {
      if (end.status === 'asks') {
        const asked = openQuestions(end.questions, calls.values(), shape).flatMap((one): readonly Chunk[] => {
          if (one.kind === 'other') return [questionPart(one.question, 'pending')]
          return one.kind === 'approvals' ? one.requests.flatMap(requestChunks) : []
        })
        return [...asked, { type: 'finish', finishReason: 'tool-calls' }]
      }
      const pending = [...calls.values()]
      const unfinished = pending.filter(({ name }) => !shape.ofClient.has(name)).flatMap(unfinishedChunks)
      if (end.status === 'failed')
        return [...unfinished, { type: 'error', errorText: end.error ?? 'The answer has failed.' }]
      if (end.status === 'canceled')
        return [...unfinished, { type: 'abort' }, { type: 'finish', finishReason: 'other' }]
      const finishReason = pending.length > unfinished.length ? 'tool-calls' : REASONS[reason ?? 'stop']
      return [...release(() => true), ...unfinished, { type: 'finish', finishReason }]
    },
  }
}

const REASONS: Readonly<Record<ModelReason, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  contentFilter: 'content-filter',
  // The agent has continued after the call, or has ended without doing so.
  toolCalls: 'stop',
  pause: 'other',
  error: 'other',
  other: 'other',
}

/** The item types that show or end a message. */
const SHOWN: ReadonlySet<AnswerItem['type']> = new Set([
  'textDelta',
  'reasoningDelta',
  'media',
  'callStart',
  'messageEnd',
])

function messageIdOf(item: AnswerItem): string | undefined {
  if ('call' in item) return item.call.messageId ?? undefined
  return 'message' in item ? item.message.id : undefined
}

/** The call of the subagent that an item belongs to, or null for the agent's own items. */
function ownerOf(item: AnswerItem): string | null {
  if ('message' in item && item.type !== 'callResult') return item.message.owner
  return 'call' in item && !item.type.startsWith('subagent') ? item.call.owner : null
}

const keyOf = ({ message, index }: { readonly message: MessageRef; readonly index: number }): string =>
  `${message.id}:${index}`

const subagentChunk = ({ id }: CallRef, name: string | undefined, status: string): Chunk => ({
  type: 'data-subagent',
  data: { toolCallId: id, ...(name !== undefined && { name }), status },
  transient: true,
})

/**
 * A custom event of the agent. If it has an `id`, it is a part of the message and replaces the previous one
 * with that id.
 */
function customChunk({
  name,
  payload,
}: {
  readonly name: string | undefined
  readonly payload: unknown
}): Chunk {
  const { id, type } = Object(payload) as { readonly id?: unknown; readonly type?: unknown }
  const named = (name ?? (isRecord(payload) && typeof type === 'string' ? type : 'custom')).replace(
    /[^\w-]+/g,
    '-',
  )
  const data = { type: `data-${named}` as const, data: payload }
  return typeof id === 'string' ? { ...data, id } : { ...data, transient: true }
}
