import { blockOf, createMessageDraft, type Slot } from '../../../messages/accumulator.ts'
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
  const draft = createMessageDraft()
  const blocks = new Map<number, BlockProgress>()
  let begun = 0
  const calls = new Map<string, CallRef>()

  function begin(slot: Slot, block: ContentBlock, out: AnswerDetail[]): BlockProgress {
    const from = commonLength(blocks.get(slot.key)?.ended, block)
    const progress: BlockProgress = {
      index: begun++,
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
  function openAt(slot: Slot, out: AnswerDetail[]): BlockProgress {
    const { block } = slot.draft
    const known = blocks.get(slot.key)
    if (known && !known.ended && known.type === block.type) return known
    if (known) finish(known, block, out)
    return begin(slot, block, out)
  }

  function addText(progress: BlockProgress, text: string, out: AnswerDetail[]): void {
    if (text === '') return
    progress.length += text.length
    out.push({
      type: progress.type === 'text' ? 'textDelta' : 'reasoningDelta',
      message,
      index: progress.index,
      text,
    })
  }

  /** Reports the arguments of a call. The first parts may arrive before its name. */
  function addArgs(
    progress: BlockProgress,
    block: CallBlock,
    whole: string,
    more: string,
    out: AnswerDetail[],
  ): void {
    const isFirst = progress.call === undefined
    const call = progress.call ?? startCall(progress, block, out)
    const args = isFirst ? whole : more
    if (!call || args === '' || progress.isStale) return
    progress.length += args.length
    out.push({ type: 'callArgs', call, args })
  }

  function startCall(
    progress: BlockProgress,
    { id, name, type }: CallBlock,
    out: AnswerDetail[],
  ): CallRef | undefined {
    if (!id || !name) return undefined
    const { owner } = message
    const call = callRef(id, nameCall(id), {
      name,
      owner,
      messageId: message.id,
      isServer: type === 'serverToolCall',
    })
    progress.call = call
    calls.set(id, call)
    out.push({ type: 'callStart', call })
    return call
  }

  function finish(progress: BlockProgress, block: ContentBlock, out: AnswerDetail[]): void {
    if (progress.ended) return
    progress.ended = block
    const { index } = progress
    switch (block.type) {
      case 'text':
        addText(progress, block.text.slice(progress.length), out)
        out.push({ type: 'textEnd', message, index, block: since(progress.from, block) })
        return
      case 'reasoning':
        addText(progress, block.text.slice(progress.length), out)
        out.push({ type: 'reasoningEnd', message, index, block: since(progress.from, block) })
        return
      case 'toolCall':
      case 'serverToolCall': {
        if (progress.length === 0) {
          const args = JSON.stringify(block.args)
          addArgs(progress, block, args, args, out)
        }
        if (progress.call) out.push({ type: 'callEnd', call: progress.call, input: block.args })
        return
      }
      case 'invalidToolCall': {
        const { id, name = 'unknown', args, error } = block
        addArgs(progress, { type: 'toolCall', id, name }, args, args.slice(progress.length), out)
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

  function push(event: MessageEvent): AnswerDetail[] {
    const out: AnswerDetail[] = []
    const before = event.type === 'blockStart' ? draft.slot(event.index) : undefined
    const replaced = before && blocks.get(before.key)
    // A block without a type in the normal form is sent whole each time it grows.
    const grows = event.type === 'blockStart' && event.block.type === 'nonStandard'
    if (before && replaced && !(grows && replaced.type === 'nonStandard'))
      finish(replaced, blockOf(before), out)
    draft.push(event)
    const slot = 'index' in event ? draft.slot(event.index) : undefined
    if (!slot) return out
    if (event.type === 'blockFinish') {
      const block = slot.done ?? slot.draft.block
      finish(blocks.get(slot.key) ?? begin(slot, block, out), block, out)
      return out
    }
    const progress = openAt(slot, out)
    const { block } = slot.draft
    const delta = event.type === 'blockDelta' ? event.delta : undefined
    if (block.type === 'text' || block.type === 'reasoning')
      addText(progress, delta ? ('text' in delta ? delta.text : '') : block.text.slice(progress.length), out)
    else if (isCall(block)) {
      progress.isStale ||= delta?.type === 'fields' && delta.fields.args !== undefined && progress.length > 0
      addArgs(progress, block, slot.draft.args ?? '', delta?.type === 'args' ? delta.args : '', out)
    }
    return out
  }

  return {
    message,
    calls,
    push,
    end(isCut) {
      const out: AnswerDetail[] = []
      const whole = draft.message()
      const keys = [...blocks.keys()].sort((a, b) => a - b)
      for (const [at, key] of keys.entries()) finish(blocks.get(key)!, whole.content[at]!, out)
      out.push({ type: 'messageEnd', message, whole, isCut })
      return out
    },
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
