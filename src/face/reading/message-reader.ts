import { createMessageDraft, type Slot } from '../../messages/accumulator.ts'
import type { ContentBlock, Message, MessageEvent } from '../../messages/index.ts'
import { defined } from '../../messages/record.ts'
import type { AnswerDetail, CallRef, MessageRef } from './answer-item.ts'

/** Reads one message of an assistant, block by block. */
export interface MessageReader {
  readonly message: MessageRef
  /** The calls that it makes. */
  readonly calls: ReadonlyMap<string, CallRef>
  push(event: MessageEvent): readonly AnswerDetail[]
  /** Ends what is open, and the message. */
  end(isCut: boolean): readonly AnswerDetail[]
}

/** How far a block has been told. */
interface Told {
  readonly index: number
  readonly type: ContentBlock['type']
  /** How much of its text, or of its arguments. */
  length: number
  /** Of a call, once its id and its name are known. */
  call: CallRef | undefined
  isEnded: boolean
}

export function createMessageReader(message: MessageRef): MessageReader {
  const draft = createMessageDraft()
  const blocks = new Map<number, Told>()
  const calls = new Map<string, CallRef>()

  function begin(slot: Slot, block: ContentBlock, out: AnswerDetail[]): Told {
    const told = { index: blocks.size, type: block.type, length: 0, call: undefined, isEnded: false }
    blocks.set(slot.key, told)
    if (block.type === 'text') out.push({ type: 'textStart', message, index: told.index })
    if (block.type === 'reasoning') out.push({ type: 'reasoningStart', message, index: told.index })
    return told
  }

  /** Tells what a block has got since it was told of last. */
  function goOn(slot: Slot, out: AnswerDetail[]): Told {
    const { block } = slot.draft
    const known = blocks.get(slot.key)
    if (known && !known.isEnded && known.type !== block.type) finish(known, block, out)
    const told = known && !known.isEnded && known.type === block.type ? known : begin(slot, block, out)
    if (block.type === 'text' || block.type === 'reasoning')
      tellText(told, slot.draft.text ?? block.text, out)
    else if (isCall(block)) tellArgs(told, block, slot.draft.args ?? '', out)
    return told
  }

  function tellText(told: Told, whole: string, out: AnswerDetail[]): void {
    if (whole.length <= told.length) return
    const text = whole.slice(told.length)
    told.length = whole.length
    out.push({
      type: told.type === 'text' ? 'textDelta' : 'reasoningDelta',
      message,
      index: told.index,
      text,
    })
  }

  function tellArgs(told: Told, block: CallBlock, whole: string, out: AnswerDetail[]): void {
    if (!told.call) {
      const { id, name } = block
      if (!id || !name) return
      const call = {
        id,
        name,
        owner: message.owner,
        messageId: message.id,
        isServer: block.type === 'serverToolCall',
      }
      told.call = call
      calls.set(id, call)
      out.push({ type: 'callStart', call })
    }
    if (whole.length <= told.length) return
    out.push({ type: 'callArgs', call: told.call, args: whole.slice(told.length) })
    told.length = whole.length
  }

  function finish(told: Told, block: ContentBlock, out: AnswerDetail[]): void {
    if (told.isEnded) return
    told.isEnded = true
    const { index } = told
    switch (block.type) {
      case 'text':
        tellText(told, block.text, out)
        out.push({ type: 'textEnd', message, index, block })
        return
      case 'reasoning':
        tellText(told, block.text, out)
        out.push({ type: 'reasoningEnd', message, index, block })
        return
      case 'toolCall':
      case 'serverToolCall': {
        if (told.length === 0) tellArgs(told, block, JSON.stringify(block.args), out)
        if (told.call) out.push({ type: 'callEnd', call: told.call, input: block.args })
        return
      }
      case 'invalidToolCall': {
        const { id, name = 'unknown', args, error } = block
        tellArgs(told, { type: 'toolCall', id, name }, args, out)
        if (told.call) out.push({ type: 'callInvalid', call: told.call, input: args, error })
        return
      }
      case 'serverToolResult': {
        const call = calls.get(block.toolCallId)
        const { status, output } = block
        const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '')
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
    const open = before && blocks.get(before.key)
    // A block that begins again replaces what was there. Text that goes on is told as more of it.
    if (before && open && event.type === 'blockStart' && event.block.type !== open.type)
      finish(open, before.done ?? before.draft.block, out)
    draft.push(event)
    const slot = 'index' in event ? draft.slot(event.index) : undefined
    if (!slot) return out
    if (event.type !== 'blockFinish') {
      goOn(slot, out)
      return out
    }
    const block = slot.done ?? slot.draft.block
    finish(blocks.get(slot.key) ?? begin(slot, block, out), block, out)
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

type CallBlock = {
  readonly type: 'toolCall' | 'serverToolCall'
  readonly id?: string | undefined
  readonly name: string
}

const isCall = (block: ContentBlock): block is ContentBlock & CallBlock =>
  block.type === 'toolCall' || block.type === 'serverToolCall'

/** A message that comes whole, as the events of one that is streamed. */
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
