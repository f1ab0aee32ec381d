import { accepts, applyDelta, type BlockDraft, createDraft, impliedBlock, toBlock } from './block-draft.ts'
import type { ContentBlock } from './content.ts'
import type { Delta, MessageError, MessageEvent, MessageFinish, MessageStart } from './events.ts'
import type { Message } from './message.ts'
import { defined, type Fields } from './record.ts'

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

  function message(): Message {
    const ordered = [...slots.values()].sort((a, b) => a.key - b.key)
    const { role = 'assistant', id, name, toolCallId } = head
    const { reason: finishReason, usage } = tail
    return {
      role,
      content: ordered.map(blockOf),
      ...defined({ id, name, toolCallId, finishReason, usage }),
      ...mergedMetadata(head, tail),
    }
  }

  return { push, message, slot: (index) => current.get(index) }
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
