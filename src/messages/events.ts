import type { Annotation, ContentBlock, Extras } from './content.ts'
import type { FinishReason, Role } from './message.ts'
import type { Usage } from './usage.ts'

/**
 * An event of a streamed message: one start, any number of blocks, one finish. Blocks are ordered by index
 * and may interleave. If a stream has several choices, `choice` numbers them. Default: 0.
 */
export type MessageEvent =
  | MessageStart
  | BlockStart
  | BlockDelta
  | BlockFinish
  | UsageReport
  | MessageFinish
  | MessageError

interface EventFields {
  readonly choice?: number
}

/** The start of a message. */
export interface MessageStart extends EventFields {
  readonly type: 'messageStart'
  /** Default: `assistant`. */
  readonly role?: Role
  readonly id?: string
  readonly name?: string
  readonly toolCallId?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A tool call may start with empty `name` and `args`, filled in by `fields` and `args` deltas. */
export interface BlockStart extends EventFields {
  readonly type: 'blockStart'
  readonly index: number
  readonly block: ContentBlock
}

/** Changes a block that is being streamed. */
export interface BlockDelta extends EventFields {
  readonly type: 'blockDelta'
  readonly index: number
  readonly delta: Delta
}

/** A change of a block. */
export type Delta =
  /** Appends to the text of a text or reasoning block. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** Appends to a tool call's arguments as raw JSON text, which is parsed once, at the end. */
  | { readonly type: 'args'; readonly args: string }
  /** Appends base64. Every part except the last has a length divisible by four and no padding. */
  | { readonly type: 'data'; readonly base64: string }
  | { readonly type: 'annotation'; readonly annotation: Annotation }
  /** Sets fields of the block; `extras` are merged key by key. */
  | { readonly type: 'fields'; readonly fields: BlockPatch }

/** The fields of a block that a delta can set. */
export interface BlockPatch {
  readonly id?: string
  readonly name?: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly url?: string
  readonly fileId?: string
  readonly mimeType?: string
  readonly status?: 'success' | 'error'
  readonly output?: unknown
  readonly extras?: Extras
}

/** The end of a block. */
export interface BlockFinish extends EventFields {
  readonly type: 'blockFinish'
  readonly index: number
  /** The complete block, if the provider repeats it. It replaces the accumulated block. */
  readonly block?: ContentBlock
}

/** The usage so far. Each report replaces the earlier ones. */
export interface UsageReport extends EventFields {
  readonly type: 'usage'
  readonly usage: Usage
}

/** The end of a message. */
export interface MessageFinish extends EventFields {
  readonly type: 'messageFinish'
  readonly reason?: FinishReason
  readonly usage?: Usage
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The model call failed during the message. */
export interface MessageError extends EventFields {
  readonly type: 'error'
  readonly message: string
  readonly code?: string
}
