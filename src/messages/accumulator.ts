import type { Annotation, ContentBlock, MediaBlock } from './content.ts'
import type { BlockPatch, Delta, MessageError, MessageEvent, MessageFinish, MessageStart } from './events.ts'
import type { Message } from './message.ts'
import { defined, type Fields } from './record.ts'
import { withRawArgs } from './tool-args.ts'

/** Builds messages from their events, in time linear in the number of events. */
export interface Accumulator {
  /** Adds the next event. It never changes the event, and never throws, whatever the provider sent. */
  push(event: MessageEvent): void
  /** The message of a choice so far. Default: the first choice. A call with cut-off arguments is invalid. */
  message(choice?: number): Message
  messages(): readonly Message[]
  readonly error: MessageError | undefined
}

/** The message that a list of events builds. If there are several choices, the first. */
export function accumulate(events: Iterable<MessageEvent>): Message {
  const accumulator = createAccumulator()
  for (const event of events) accumulator.push(event)
  return accumulator.message()
}

/** Creates an accumulator without events. */
export function createAccumulator(): Accumulator {
  const drafts = new Map<number, MessageDraft>()
  let error: MessageError | undefined
  const draftOf = (choice = 0): MessageDraft => {
    let draft = drafts.get(choice)
    if (!draft) drafts.set(choice, (draft = createMessageDraft()))
    return draft
  }
  return {
    push(event) {
      if (event.type === 'error') error = event
      draftOf(event.choice).push(event)
    },
    message: (choice) => draftOf(choice).message(),
    messages: () => [...drafts.keys()].sort((a, b) => a - b).map((choice) => draftOf(choice).message()),
    get error() {
      return error
    },
  }
}

/** A message that is being streamed. The accumulator and the wire encoder share it. */
export interface MessageDraft {
  push(event: MessageEvent): void
  message(): Message
  /** The block that received the last event with this index. */
  slot(index: number): Slot | undefined
}

/** A block that is being streamed or is finished. */
export interface Slot {
  /** Unique in the message. Blocks are ordered by their keys. */
  readonly key: number
  readonly index: number
  draft: BlockDraft
  done: ContentBlock | undefined
}

export const blockOf = ({ draft, done }: Slot): ContentBlock => done ?? toBlock(draft)

export function createMessageDraft(): MessageDraft {
  let head: Omit<MessageStart, 'type'> = {}
  let tail: Omit<MessageFinish, 'type'> = {}
  const slots = new Map<number, Slot>()
  const current = new Map<number, Slot>()

  function open(key: number, index: number, block: ContentBlock): Slot {
    const slot: Slot = { key, index, draft: createDraft(block), done: undefined }
    slots.set(key, slot)
    current.set(index, slot)
    return slot
  }

  /** Some providers use one index for text and a call. The second type gets a new block after the first. */
  function slotFor(index: number, delta: Delta): Slot {
    const slot = current.get(index)
    if (slot && fits(slot, delta)) return slot
    for (let key = index; ; key += 1 / 16) {
      const taken = slots.get(key)
      if (!taken) return open(key, index, impliedBlock(delta))
      if (!fits(taken, delta)) continue
      current.set(index, taken)
      return taken
    }
  }

  function push(event: MessageEvent): void {
    switch (event.type) {
      case 'messageStart':
        head = { ...head, ...defined(event), ...mergedMetadata(head, event) }
        return
      case 'blockStart':
        open(event.index, event.index, event.block)
        return
      case 'blockDelta': {
        const slot = slotFor(event.index, event.delta)
        if (slot.done) reopen(slot)
        applyDelta(slot.draft, event.delta)
        return
      }
      case 'blockFinish': {
        const slot = current.get(event.index) ?? (event.block && open(event.index, event.index, event.block))
        if (slot) slot.done = event.block ?? blockOf(slot)
        return
      }
      case 'usage':
        tail = { ...tail, usage: event.usage }
        return
      case 'messageFinish':
        tail = { ...tail, ...defined(event), ...mergedMetadata(tail, event) }
        return
      case 'error':
        tail = { ...tail, reason: 'error' }
    }
  }

  return { push, message: () => messageOf(head, tail, slots.values()), slot: (index) => current.get(index) }
}

function messageOf(
  head: Omit<MessageStart, 'type'>,
  tail: Omit<MessageFinish, 'type'>,
  slots: Iterable<Slot>,
): Message {
  const ordered = [...slots].sort((a, b) => a.key - b.key)
  const { role = 'assistant', id, name, toolCallId } = head
  const { reason: finishReason, usage } = tail
  return {
    role,
    content: ordered.map(blockOf),
    ...defined({ id, name, toolCallId, finishReason, usage }),
    ...mergedMetadata(head, tail),
  }
}

const fits = ({ draft, done }: Slot, delta: Delta): boolean => accepts(done ?? draft.block, delta)

function reopen(slot: Slot): void {
  slot.draft = createDraft(slot.done!)
  slot.done = undefined
}

type WithMetadata = { readonly metadata?: Fields }

function mergedMetadata(before: WithMetadata, after: WithMetadata): WithMetadata | undefined {
  if (!before.metadata && !after.metadata) return undefined
  return { metadata: { ...before.metadata, ...after.metadata } }
}

/** A block that is being streamed. Parts are only appended; `toBlock` assembles the block. */
interface BlockDraft {
  block: ContentBlock
  text: string | undefined
  args: string | undefined
  base64: string | undefined
  annotations: Annotation[] | undefined
}

function createDraft(block: ContentBlock): BlockDraft {
  return { block, text: undefined, args: undefined, base64: undefined, annotations: undefined }
}

/** The block that a delta starts if there was no `blockStart`. */
function impliedBlock(delta: Delta): ContentBlock {
  switch (delta.type) {
    case 'reasoning':
      return { type: 'reasoning', text: '' }
    case 'args':
      return { type: 'toolCall', name: '', args: {} }
    case 'data':
      return { type: 'file' }
    case 'fields':
      return { type: 'nonStandard', value: null }
    default:
      return { type: 'text', text: '' }
  }
}

/** The block types that accept each delta. All accept `fields`. */
const TAKERS: Readonly<Record<Exclude<Delta['type'], 'fields'>, readonly ContentBlock['type'][]>> = {
  text: ['text'],
  annotation: ['text'],
  reasoning: ['reasoning'],
  args: ['toolCall', 'serverToolCall'],
  data: ['image', 'audio', 'video', 'file'],
}

function accepts({ type }: ContentBlock, delta: Delta): boolean {
  return delta.type === 'fields' || TAKERS[delta.type].includes(type)
}

/** Adds a delta that the block accepts. */
function applyDelta(draft: BlockDraft, delta: Delta): void {
  switch (delta.type) {
    case 'text':
    case 'reasoning':
      draft.text = (draft.text ?? (draft.block as { text: string }).text) + delta.text
      return
    case 'args':
      draft.args = (draft.args ?? '') + delta.args
      return
    case 'data':
      draft.base64 = (draft.base64 ?? (draft.block as MediaBlock).base64 ?? '') + delta.base64
      return
    case 'annotation':
      draft.annotations ??= [...((draft.block as { annotations?: readonly Annotation[] }).annotations ?? [])]
      draft.annotations.push(delta.annotation)
      return
    case 'fields':
      draft.block = patched(draft.block, delta.fields)
      if (delta.fields.args) draft.args = undefined
  }
}

function patched(block: ContentBlock, { extras, ...fields }: BlockPatch): ContentBlock {
  const merged = extras ? { extras: { ...block.extras, ...extras } } : undefined
  return { ...block, ...fields, ...merged } as ContentBlock
}

/** The block so far, with its arguments parsed. */
function toBlock({ block, text, args, base64, annotations }: BlockDraft): ContentBlock {
  switch (block.type) {
    case 'text':
      if (text === undefined && !annotations) return block
      return { ...block, ...defined({ text, annotations: annotations && [...annotations] }) }
    case 'reasoning':
      return text === undefined ? block : { ...block, text }
    case 'toolCall':
    case 'serverToolCall':
      return args === undefined ? block : withRawArgs(block, args)
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return base64 === undefined ? block : { ...block, base64 }
    default:
      return block
  }
}
