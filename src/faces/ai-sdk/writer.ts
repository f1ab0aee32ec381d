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

/**
 * What a page has received of an answer, and what is open there. `refused`: the calls that the page has just
 * rejected.
 */
export const createChunkWriter = (shape: Shape, refused: ReadonlySet<string> = new Set()) => ({
  shape,
  refused,
  /** Calls without a result. */
  calls: new Map<string, OpenCall>(),
  sentMessages: new Set<string>(),
  sentCalls: new Set<string>(),
  /**
   * Calls of the page's tools whose message is not in the state yet. A page runs a call as soon as its input
   * is complete.
   */
  held: new Map<string, { readonly messageId: string; readonly chunk: Chunk }>(),
  /** The messages that are in the state. */
  kept: new Set<string>(),
  /** Open text and reasoning parts. */
  open: new Set<string>(),
  /** What a subagent or a running tool has written so far, by call. */
  previews: new Map<string, { text: string; sent: number }>(),
  /** The messages that are being streamed, and whether they have shown something. Each message is a step. */
  writing: new Map<string, boolean>(),
  usage: undefined as TokenUsage | undefined,
  reason: undefined as ModelReason | undefined,
})

export type ChunkWriter = ReturnType<typeof createChunkWriter>

type Chunks = readonly Chunk[]

/**
 * Starts a message with this id. `replies` is what the answer has written before: a page that reads the whole
 * answer receives it, a page that continues the answer already has it.
 */
export function startMessage(
  writer: ChunkWriter,
  messageId: string,
  replies: Turn['replies'],
  isKnown: boolean,
): Chunks {
  writer.usage = usageOf(replies)
  for (const call of openCalls(replies)) writer.calls.set(call.id, call)
  const start: Chunk = { type: 'start', messageId }
  if (isKnown) return [start]
  const { shape } = writer
  const parts = partsOf(replies, shape, false)
  return [
    start,
    ...parts.flatMap((part, at) => chunksOf(part, `before:${at}`, shape)),
    ...usageChunks(writer),
  ]
}

/**
 * The chunks of an answer's next item. A step starts with the first item that it shows, so that messages of
 * parallel models do not mix. Throws `StreamLost`.
 */
export function writeItem(writer: ChunkWriter, item: AnswerItem): Chunks {
  const owner = ownerOf(item)
  if (owner !== null) return writeOfSubagent(writer, owner, item)
  const id = SHOWN.has(item.type) ? messageIdOf(item) : undefined
  if (id === undefined || writer.writing.get(id) !== false) return chunksOfItem(writer, item)
  writer.writing.set(id, true)
  return [{ type: 'start-step' }, ...chunksOfItem(writer, item)]
}

function chunksOfItem(writer: ChunkWriter, item: AnswerItem): Chunks {
  const { writing } = writer
  switch (item.type) {
    case 'messageStart':
      writing.set(item.message.id, false)
      writer.sentMessages.add(item.message.id)
      return []
    case 'messageEnd': {
      writing.delete(item.message.id)
      writer.usage = added(writer.usage, item.whole.usage)
      writer.reason = item.whole.finishReason
      // In early releases of version 6, finishing a step also closes the open texts of other steps.
      const step: Chunks = writing.size === 0 ? [{ type: 'finish-step' }] : []
      return item.whole.usage ? [...step, ...usageChunks(writer)] : step
    }
    case 'textDelta':
      return writeDelta(writer, 'text', keyOf(item), item.text)
    case 'textEnd':
      return [...endPart(writer, 'text', keyOf(item)), ...sourcesOf(item.block)]
    case 'reasoningDelta':
      return writeDelta(writer, 'reasoning', keyOf(item), item.text)
    case 'reasoningEnd':
      return endPart(writer, 'reasoning', keyOf(item))
    case 'media':
      return filesOf(item.block).map(({ mediaType, url }) => ({ type: 'file', mediaType, url }))
    case 'callStart':
    case 'callArgs':
    case 'callEnd':
    case 'callInvalid':
    case 'callOutput':
    case 'callResult':
      return chunksOfCall(writer, item)
    case 'subagentStart':
      return [subagentChunk(item.call, item.name, 'running')]
    case 'subagentEnd':
      return [subagentChunk(item.call, undefined, item.status)]
    case 'custom':
      return [customChunk(item)]
    case 'kept':
      for (const id of item.messages) writer.kept.add(id)
      return release(writer, ({ messageId }) => writer.kept.has(messageId))
    case 'retract':
      if (item.reason === 'unused') return item.calls.flatMap((id) => dropCall(writer, id))
      if (
        item.messages.some((id) => writer.sentMessages.has(id)) ||
        item.calls.some((id) => writer.sentCalls.has(id))
      )
        throw new StreamLost('A process was lost, and what it has written is void.')
      return []
    case 'gap':
      throw new StreamLost('The log has lost a part of the answer.')
    default:
      return []
  }
}

type CallItem = AnswerItem & { readonly type: `call${string}` }

function chunksOfCall(writer: ChunkWriter, item: CallItem): Chunks {
  const { calls, held, shape } = writer
  const { id, name, messageId } = item.call
  switch (item.type) {
    case 'callStart':
      calls.set(id, { id, name, input: undefined })
      writer.sentCalls.add(id)
      return [{ type: 'tool-input-start', ...toolChunk(id, name, shape) }]
    case 'callArgs':
      return [{ type: 'tool-input-delta', toolCallId: id, inputTextDelta: item.args }]
    case 'callEnd': {
      const call = { id, name, input: item.input }
      calls.set(id, call)
      const chunk = inputChunk(call, shape)
      if (!shape.ofClient.has(name) || messageId === null || writer.kept.has(messageId)) return [chunk]
      held.set(id, { messageId, chunk })
      return []
    }
    case 'callInvalid': {
      calls.delete(id)
      const { input, error: errorText } = item
      return [{ type: 'tool-input-error', ...toolChunk(id, name, shape), input, errorText }]
    }
    case 'callOutput':
      return writePreview(writer, id, item.text)
    case 'callResult': {
      calls.delete(id)
      if (writer.refused.has(id)) return [{ type: 'tool-output-denied', toolCallId: id }]
      const { status, message, text, output } = item
      const isServer = item.call.isServer
      return chunksOfState(isServer ? serverState(status, output) : toolState(status, message, text), id)
    }
  }
}

/** The chunks at the end of an answer, or of its part before a question. */
export function writeEnd(writer: ChunkWriter, end: AnswerEnd): Chunks {
  const { calls, shape, reason = 'stop' } = writer
  if (end.status === 'asks') {
    const asked = openQuestions(end.questions, calls.values(), shape).flatMap((one): Chunks => {
      if (one.kind === 'other') return [questionPart(one.question, 'pending')]
      return one.kind === 'approvals' ? one.requests.flatMap((request) => requestChunks(request, shape)) : []
    })
    return [...asked, { type: 'finish', finishReason: 'tool-calls' }]
  }
  const pending = [...calls.values()]
  const ofServer = pending.filter(({ name }) => !shape.ofClient.has(name))
  const unfinished = ofServer.flatMap((call) => unfinishedChunks(call, shape))
  if (end.status === 'failed')
    return [...unfinished, { type: 'error', errorText: end.error ?? 'The answer has failed.' }]
  if (end.status === 'canceled')
    return [...unfinished, { type: 'abort' }, { type: 'finish', finishReason: 'other' }]
  const finishReason = pending.length > ofServer.length ? 'tool-calls' : REASONS[reason]
  return [...release(writer, () => true), ...unfinished, { type: 'finish', finishReason }]
}

const usageChunks = ({ usage }: ChunkWriter): Chunks =>
  usage ? [{ type: 'message-metadata', messageMetadata: { usage } }] : []

function writeDelta({ open }: ChunkWriter, type: 'text' | 'reasoning', id: string, text: string): Chunks {
  const more: Chunk = { type: `${type}-delta`, id, delta: text }
  if (open.has(id)) return [more]
  open.add(id)
  return [{ type: `${type}-start`, id }, more]
}

const endPart = ({ open }: ChunkWriter, type: 'text' | 'reasoning', id: string): Chunks =>
  open.delete(id) ? [{ type: `${type}-end`, id }] : []

/** An item of a subagent. The page sees its text as the preliminary output of its call. */
function writeOfSubagent(writer: ChunkWriter, owner: string, item: AnswerItem): Chunks {
  if (item.type === 'messageStart') writer.previews.delete(owner)
  return item.type === 'textDelta' ? writePreview(writer, owner, item.text) : []
}

/**
 * Sends what a call has written so far, each time it has grown by a tenth. The total sent stays proportional to
 * the text.
 */
function writePreview({ calls, previews }: ChunkWriter, callId: string, text: string): Chunks {
  if (!calls.has(callId)) return []
  const known = previews.get(callId) ?? { text: '', sent: 0 }
  previews.set(callId, known)
  known.text += text
  if (known.text.length < known.sent * 1.1) return []
  known.sent = known.text.length
  return [{ type: 'tool-output-available', toolCallId: callId, output: known.text, preliminary: true }]
}

/** The inputs of held calls. */
const release = ({ held }: ChunkWriter, which: (call: { readonly messageId: string }) => boolean): Chunks =>
  [...held].flatMap(([id, call]) => (which(call) && held.delete(id) ? [call.chunk] : []))

/**
 * Ends a call that is not in the state. Sent texts stay on the page until it reads the answer again. The page
 * never gets a complete call of its own tools.
 */
function dropCall({ calls, held, shape }: ChunkWriter, id: string): Chunks {
  const call = calls.get(id)
  held.delete(id)
  calls.delete(id)
  return call && !shape.ofClient.has(call.name) ? unfinishedChunks(call, shape) : []
}

const inputChunk = ({ id, name, input }: OpenCall, shape: Shape): Chunk => ({
  type: 'tool-input-available',
  ...toolChunk(id, name, shape),
  input,
})

const unfinishedChunks = (call: OpenCall, shape: Shape): Chunks => [
  // The stream ended while its arguments were being written.
  ...(call.input === undefined ? [inputChunk({ ...call, input: {} }, shape)] : []),
  ...chunksOfState(UNFINISHED_STATE, call.id),
]

function requestChunks({ approvalId, call, isShown }: ApprovalRequest, shape: Shape): Chunks {
  const request: Chunk = { type: 'tool-approval-request', approvalId, toolCallId: call.id }
  return isShown ? [request] : [inputChunk(call, shape), request]
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
