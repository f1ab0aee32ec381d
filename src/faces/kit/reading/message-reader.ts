import { blockOf, createMessageDraft, type MessageDraft, type Slot } from '../../../messages/accumulator.ts'
import type {
  ContentBlock,
  Message,
  MessageEvent,
  ReasoningBlock,
  TextBlock,
} from '../../../messages/index.ts'
import { defined } from '../../../messages/record.ts'
import type { AnswerDetail, CallRef, MessageRef } from './answer-item.ts'

/** Converts one assistant message to items, block by block. */
export interface MessageReader {
  readonly message: MessageRef
  /** The calls that the message makes, by the model's id. */
  readonly calls: ReadonlyMap<string, CallRef>
  push(event: MessageEvent): readonly AnswerDetail[]
  /** Ends the open blocks, and the message. */
  end(isCut: boolean): readonly AnswerDetail[]
}

/** The part of a block that was reported. */
interface BlockProgress {
  readonly index: number
  readonly type: ContentBlock['type']
  /** The length of the text that was reported before: the block was left, and taken up again. */
  readonly from: number
  /** The length of the text or arguments that were reported. */
  length: number
  /** Set for a call, once its id and name are known. */
  call: CallRef | undefined
  /** The arguments were rewritten and do not continue the reported part. The end of the call has them. */
  isStale: boolean
  /** What it was when it ended. */
  ended: ContentBlock | undefined
}

/** @param nameCall Gives a call its name, by the model's id. */
export function createMessageReader(
  message: MessageRef,
  nameCall: (id: string) => string = (id) => id,
): MessageReader {
  const reading: MessageReading = {
    message,
    nameCall,
    draft: createMessageDraft(),
    blocks: new Map(),
    calls: new Map(),
    begun: 0,
    out: [],
  }
  return {
    message,
    calls: reading.calls,
    push(event) {
      reading.out = []
      push(reading, event)
      return reading.out
    },
    end(isCut) {
      reading.out = []
      const { draft, blocks, out } = reading
      const whole = draft.message()
      const keys = [...blocks.keys()].sort((a, b) => a - b)
      for (const [at, key] of keys.entries()) finish(reading, blocks.get(key)!, whole.content[at]!)
      out.push({ type: 'messageEnd', message, whole, isCut })
      return out
    },
  }
}

interface MessageReading {
  readonly message: MessageRef
  readonly nameCall: (id: string) => string
  readonly draft: MessageDraft
  /** By the keys of their slots. */
  readonly blocks: Map<number, BlockProgress>
  readonly calls: Map<string, CallRef>
  /** The number of blocks that were begun. */
  begun: number
  /** The items of the newest event. */
  out: AnswerDetail[]
}

function push(reading: MessageReading, event: MessageEvent): void {
  const { draft, blocks } = reading
  const before = event.type === 'blockStart' ? draft.slot(event.index) : undefined
  const replaced = before && blocks.get(before.key)
  // A block without a type in the normal form is sent whole each time it grows.
  const grows = event.type === 'blockStart' && event.block.type === 'nonStandard'
  if (before && replaced && !(grows && replaced.type === 'nonStandard'))
    finish(reading, replaced, blockOf(before))
  draft.push(event)
  const slot = 'index' in event ? draft.slot(event.index) : undefined
  if (!slot) return
  if (event.type === 'blockFinish') {
    const block = blockOf(slot)
    finish(reading, blocks.get(slot.key) ?? begin(reading, slot, block), block)
    return
  }
  const progress = openAt(reading, slot)
  const { block } = slot.draft
  const delta = event.type === 'blockDelta' ? event.delta : undefined
  if (isText(block)) {
    const added = delta && 'text' in delta ? delta.text : ''
    addText(reading, progress, delta ? added : block.text.slice(progress.length))
  } else if (isCall(block)) {
    progress.isStale ||= delta?.type === 'fields' && delta.fields.args !== undefined && progress.length > 0
    addArgs(reading, progress, block, slot.draft.args ?? '', delta?.type === 'args' ? delta.args : '')
  }
}

function begin(reading: MessageReading, slot: Slot, block: ContentBlock): BlockProgress {
  const { message, blocks, out } = reading
  const from = commonLength(blocks.get(slot.key)?.ended, block)
  const progress: BlockProgress = {
    index: reading.begun++,
    type: block.type,
    from,
    length: from,
    call: undefined,
    isStale: false,
    ended: undefined,
  }
  blocks.set(slot.key, progress)
  if (block.type === 'text') out.push({ type: 'textStart', message, index: progress.index })
  if (block.type === 'reasoning') out.push({ type: 'reasoningStart', message, index: progress.index })
  return progress
}

/**
 * The block of a slot that is being reported. Begins a new one if nothing of it was reported, or if another
 * block replaces it.
 */
function openAt(reading: MessageReading, slot: Slot): BlockProgress {
  const { block } = slot.draft
  const known = reading.blocks.get(slot.key)
  if (known && !known.ended && known.type === block.type) return known
  if (known) finish(reading, known, block)
  return begin(reading, slot, block)
}

function addText({ message, out }: MessageReading, progress: BlockProgress, text: string): void {
  if (text === '') return
  progress.length += text.length
  const type = progress.type === 'text' ? 'textDelta' : 'reasoningDelta'
  out.push({ type, message, index: progress.index, text })
}

/** Reports the arguments of a call. The first parts may arrive before its name. */
function addArgs(
  reading: MessageReading,
  progress: BlockProgress,
  block: CallBlock,
  whole: string,
  more: string,
): void {
  const isFirst = progress.call === undefined
  const call = progress.call ?? startCall(reading, progress, block)
  const args = isFirst ? whole : more
  if (!call || args === '' || progress.isStale) return
  progress.length += args.length
  reading.out.push({ type: 'callArgs', call, args })
}

function startCall(
  { message, calls, nameCall, out }: MessageReading,
  progress: BlockProgress,
  { id, name, type }: CallBlock,
): CallRef | undefined {
  if (!id || !name) return undefined
  const about = { name, owner: message.owner, messageId: message.id, isServer: type === 'serverToolCall' }
  const call = callRef(id, nameCall(id), about)
  progress.call = call
  calls.set(id, call)
  out.push({ type: 'callStart', call })
  return call
}

function finish(reading: MessageReading, progress: BlockProgress, block: ContentBlock): void {
  if (progress.ended) return
  progress.ended = block
  const { message, calls, out } = reading
  const { index, from } = progress
  switch (block.type) {
    case 'text':
      addText(reading, progress, block.text.slice(progress.length))
      out.push({ type: 'textEnd', message, index, block: since(from, block) })
      return
    case 'reasoning':
      addText(reading, progress, block.text.slice(progress.length))
      out.push({ type: 'reasoningEnd', message, index, block: since(from, block) })
      return
    case 'toolCall':
    case 'serverToolCall': {
      if (progress.length === 0) {
        const args = JSON.stringify(block.args)
        addArgs(reading, progress, block, args, args)
      }
      if (progress.call) out.push({ type: 'callEnd', call: progress.call, input: block.args })
      return
    }
    case 'invalidToolCall': {
      const { id, name = 'unknown', args, error } = block
      addArgs(reading, progress, { type: 'toolCall', id, name }, args, args.slice(progress.length))
      if (progress.call) out.push({ type: 'callInvalid', call: progress.call, input: args, error })
      return
    }
    case 'serverToolResult': {
      const call = calls.get(block.toolCallId)
      const { status, output } = block
      const text = textOfOutput(output)
      if (call) out.push({ type: 'callResult', call, status, message: undefined, text, output })
      return
    }
    case 'nonStandard':
      out.push({ type: 'other', message, index, value: block.value })
      return
    default:
      out.push({ type: 'media', message, index, block })
  }
}

/**
 * The length of the text that a block has of one with its index that has ended: it starts again with its
 * content so far to go on.
 */
const commonLength = (ended: ContentBlock | undefined, block: ContentBlock): number =>
  ended && isText(ended) && ended.type === block.type && block.text.startsWith(ended.text)
    ? ended.text.length
    : 0

const isText = (block: ContentBlock): block is TextBlock | ReasoningBlock =>
  block.type === 'text' || block.type === 'reasoning'

const since = <Block extends TextBlock | ReasoningBlock>(from: number, block: Block): Block =>
  from === 0 ? block : { ...block, text: block.text.slice(from) }

/** A call with the model's id, and its name. */
export const callRef = (
  modelCallId: string,
  id: string,
  about: Omit<CallRef, 'id' | 'modelCallId'>,
): CallRef => ({ id, ...(id !== modelCallId && { modelCallId }), ...about })

type CallBlock = {
  readonly type: 'toolCall' | 'serverToolCall'
  readonly id?: string | undefined
  readonly name: string
}

const isCall = (block: ContentBlock): block is ContentBlock & CallBlock =>
  block.type === 'toolCall' || block.type === 'serverToolCall'

/** The text of a tool's output that is not a tool message. */
export const textOfOutput = (output: unknown): string =>
  typeof output === 'string' ? output : (JSON.stringify(output) ?? '')

/** The events that a complete message would have had if streamed. */
export function eventsOf({ content, finishReason, usage, metadata, ...about }: Message): MessageEvent[] {
  const blocks = content.flatMap((block, index): MessageEvent[] => [
    { type: 'blockStart', index, block },
    { type: 'blockFinish', index, block },
  ])
  const { role, id, name } = about
  return [
    { type: 'messageStart', role, ...defined({ id, name }) },
    ...blocks,
    { type: 'messageFinish', ...defined({ reason: finishReason, usage, metadata }) },
  ]
}
