import { blockOf, createMessageDraft, type Slot } from '../accumulator.ts'
import type { ContentBlock } from '../content.ts'
import type { Delta, MessageEvent, MessageStart } from '../events.ts'
import type { FinishReason, Message, Role } from '../message.ts'
import { defined, filterFields } from '../record.ts'
import { encodeBlock, type WireBlock } from './blocks.ts'
import { encodeUsage, type WireUsage } from './usage.ts'

/** The `data` of an event of the protocol's `messages` channel: docs/protocol.md §5.4. */
export type WireMessageEvent = {
  /** The id of the model call, in events from graphs. */
  readonly run_id?: string
} & (
  | {
      readonly event: 'message-start'
      readonly id?: string
      /** `ai`, `human`, `system` or `tool`. Default: `ai`. */
      readonly role?: string
      readonly name?: string
      readonly tool_call_id?: string
      readonly metadata?: Readonly<Record<string, unknown>>
    }
  | { readonly event: 'content-block-start'; readonly index: number; readonly content: WireBlock }
  | { readonly event: 'content-block-delta'; readonly index: number; readonly delta: WireDelta }
  | { readonly event: 'content-block-finish'; readonly index: number; readonly content: WireBlock }
  | { readonly event: 'usage'; readonly usage: WireUsage }
  | {
      readonly event: 'message-finish'
      readonly reason?: string
      readonly usage?: WireUsage
      readonly responseMetadata?: Readonly<Record<string, unknown>>
    }
  | { readonly event: 'error'; readonly message: string; readonly code?: string }
)

/** A change of a block on the wire. */
export type WireDelta =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly reasoning: string }
  | { readonly type: 'data-delta'; readonly data: string; readonly encoding: 'base64' }
  /** Replaces fields of the block. `args` of a tool call is the complete text so far. */
  | { readonly type: 'block-delta'; readonly fields: Readonly<Record<string, unknown>> }

/** Encodes the events of one message. */
export interface MessageEncoder {
  /** Encodes an event. Only the first choice is encoded, because the channel carries one message. */
  push(event: MessageEvent): void
  /** The message so far. */
  message(): Message
}

export const WIRE_ROLES: Readonly<Record<Role, string>> = {
  system: 'system',
  user: 'human',
  assistant: 'ai',
  tool: 'tool',
  reasoning: 'ai',
}

export const WIRE_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  toolCalls: 'tool_calls',
  contentFilter: 'content_filter',
  pause: 'pause',
  error: 'error',
  other: 'other',
}

/** The wire names of the fields that deltas append to. */
const APPENDED = ['text', 'reasoning', 'data', 'args']

/** What was encoded of a message so far. */
interface Encoding {
  readonly deliver: (data: WireMessageEvent) => void
  /** Overrides the id in the stream. */
  readonly id: string | undefined
  readonly draft: ReturnType<typeof createMessageDraft>
  readonly open: Map<number, Slot>
  readonly sentArgs: Map<number, number>
  started: boolean
  failed: boolean
}

/**
 * Encodes message events as `data` of the `messages` channel. Deltas of a tool call repeat all arguments so
 * far, because the client replaces them. They are sent each time the arguments have grown by a sixteenth,
 * which keeps the total size linear.
 *
 * @param deliver Called with each event at once. `error` is the last event: a failed message has no finish.
 * @param id The id of the message. Overrides the id in the stream.
 */
export function createMessageEncoder(deliver: (data: WireMessageEvent) => void, id?: string): MessageEncoder {
  const draft = createMessageDraft()
  const encoding: Encoding = {
    deliver,
    id,
    draft,
    open: new Map(),
    sentArgs: new Map(),
    started: false,
    failed: false,
  }
  return { push: (event) => push(encoding, event), message: draft.message }
}

function push(encoding: Encoding, event: MessageEvent): void {
  if (event.choice) return
  if (event.type === 'messageStart') {
    startMessage(encoding, event)
    return
  }
  const { draft, open } = encoding
  if (!encoding.started) startMessage(encoding, { type: 'messageStart' })
  draft.push(event)
  switch (event.type) {
    case 'blockStart':
      startBlock(encoding, draft.slot(event.index)!, event.block)
      break
    case 'blockDelta':
      sendDelta(encoding, draft.slot(event.index)!, event.delta)
      break
    case 'blockFinish': {
      const slot = draft.slot(event.index)
      if (!slot) break
      if (!open.has(slot.key)) startBlock(encoding, slot, blockOf(slot))
      finishBlock(encoding, slot)
      break
    }
    case 'usage':
      emit(encoding, { event: 'usage', usage: encodeUsage(event.usage) })
      break
    case 'messageFinish': {
      for (const slot of [...open.values()].sort((a, b) => a.key - b.key)) finishBlock(encoding, slot)
      const { usage, finishReason, metadata } = draft.message()
      emit(encoding, {
        event: 'message-finish',
        ...defined({
          reason: finishReason && WIRE_REASONS[finishReason],
          usage: usage && encodeUsage(usage),
          responseMetadata: metadata,
        }),
      })
      break
    }
    case 'error':
      emit(encoding, { event: 'error', message: event.message, ...defined({ code: event.code }) })
  }
}

function emit(encoding: Encoding, data: WireMessageEvent): void {
  if (!encoding.failed) encoding.deliver(data)
  encoding.failed ||= data.event === 'error'
}

function startMessage(encoding: Encoding, event: MessageStart): void {
  const { id, draft } = encoding
  const named = id === undefined ? event : { ...event, id }
  draft.push(named)
  if (encoding.started) return
  encoding.started = true
  const { role = 'assistant', name, toolCallId, metadata } = named
  emit(encoding, {
    event: 'message-start',
    role: WIRE_ROLES[role],
    ...defined({
      id: named.id,
      name,
      tool_call_id: toolCallId,
      // The protocol's message metadata are flat.
      metadata: metadata && filterFields(metadata, isScalar),
    }),
  })
}

function startBlock(encoding: Encoding, slot: Slot, block: ContentBlock): void {
  encoding.open.set(slot.key, slot)
  emit(encoding, { event: 'content-block-start', index: slot.index, content: asChunk(block) })
}

function sendDelta(encoding: Encoding, slot: Slot, delta: Delta): void {
  if (!encoding.open.has(slot.key)) startBlock(encoding, slot, slot.draft.block)
  const wire = encodeDelta(encoding, slot, delta)
  if (wire) emit(encoding, { event: 'content-block-delta', index: slot.index, delta: wire })
}

function encodeDelta({ sentArgs }: Encoding, slot: Slot, delta: Delta): WireDelta | undefined {
  switch (delta.type) {
    case 'text':
      return { type: 'text-delta', text: delta.text }
    case 'reasoning':
      return { type: 'reasoning-delta', reasoning: delta.text }
    case 'data':
      return { type: 'data-delta', data: delta.base64, encoding: 'base64' }
    case 'args': {
      const args = slot.draft.args ?? ''
      const sent = sentArgs.get(slot.key) ?? 0
      if (args.length - sent < sent / 16) return undefined
      sentArgs.set(slot.key, args.length)
      return { type: 'block-delta', fields: { type: asChunk(slot.draft.block).type, args } }
    }
    case 'annotation': {
      const { type, annotations } = encodeBlock(blockOf(slot))
      return { type: 'block-delta', fields: { type, annotations } }
    }
    case 'fields': {
      const isKept = (key: string) =>
        !APPENDED.includes(key) || (key === 'args' && delta.fields.args !== undefined)
      return { type: 'block-delta', fields: filterFields(asChunk(slot.draft.block), isKept) }
    }
  }
}

function finishBlock(encoding: Encoding, slot: Slot): void {
  encoding.open.delete(slot.key)
  emit(encoding, { event: 'content-block-finish', index: slot.index, content: encodeBlock(blockOf(slot)) })
}

/** The block as a chunk: a tool call that is being streamed has its arguments as text. */
function asChunk(block: ContentBlock): WireBlock {
  const wire = encodeBlock(block)
  if (block.type !== 'toolCall' && block.type !== 'serverToolCall') return wire
  const args = Object.keys(block.args).length > 0 ? JSON.stringify(block.args) : ''
  return { ...wire, type: `${wire.type}_chunk`, args }
}

const isScalar = (_: string, value: unknown): boolean => value === null || typeof value !== 'object'
