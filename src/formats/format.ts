import type { Message, MessageError, MessageEvent } from '../messages/index.ts'

/** What a value of a format can be. */
export type Shape = 'request' | 'response' | 'chunk'

/**
 * How one provider's wire shape is read into the normal form: a table of pure functions.
 *
 * Readers take whatever a provider or its SDK hands out, parsed from JSON, and never throw and never change it. What they do
 * not know is kept: fields in `extras` or `metadata`, blocks as `nonStandard`, events in `metadata.unknownEvents`. What is
 * no request or response at all becomes a best-effort record whose `issues` name the path. Fields that are null or `''` say
 * nothing and are left out, as are fields called `__proto__`. Results share structure with what they were read from.
 */
export interface Format {
  /** How `format: '<name>'` asks for it. */
  readonly name: string
  /** The provider the shape comes from, as price tables name it. Servers that only speak the shape have names of their own. */
  readonly provider?: string
  /** What a value is in this format, as far as its shape tells. */
  detect(value: unknown): Shape | undefined
  readRequest(request: unknown): ModelRequest
  readResponse(response: unknown): ModelResponse
  readStream(): StreamReader
}

/**
 * Reads one streamed response. Accumulating its events gives the messages that `readResponse` gives for the whole response.
 *
 * The start of a text or reasoning block has no text: its text comes in deltas. Indexes of blocks count from 0, in the order
 * the blocks were first seen, without gaps.
 */
export interface StreamReader {
  /** What the next chunk says, in order. */
  push(chunk: unknown): readonly MessageEvent[]
  /**
   * The rest: one `messageFinish` per choice, with its reason, usage and metadata. To be called when the stream has ended,
   * however it did: completely, cut off, or after an `error` event. A second time gives nothing.
   */
  end(): readonly MessageEvent[]
}

export interface ModelRequest {
  /** The whole input in order; system instructions come first. */
  readonly messages: readonly Message[]
  /** As they came. May hold credentials (of remote tools), as may `extras`: pick from them, never copy them. */
  readonly tools?: readonly unknown[]
  readonly params: ModelParams
  /** All other fields, as they came. */
  readonly extras: Readonly<Record<string, unknown>>
  readonly issues?: readonly Issue[]
}

/** Parameters under one name for all providers. */
export interface ModelParams {
  readonly model?: string
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly maxTokens?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly choiceCount?: number
  readonly stream?: boolean
}

export interface ModelResponse {
  /**
   * One per choice, in order, with `finishReason` and `metadata`: the model's name as `model`, the provider's own counts as
   * `usage`, its own finish reason and all else under the provider's names. The first one carries the `usage` of them all.
   */
  readonly messages: readonly Message[]
  /** Why the call failed, where the response says so. */
  readonly error?: MessageError
  readonly issues?: readonly Issue[]
}

/** Something that is not as the format has it. */
export interface Issue {
  /** As one would write it in code: `choices`, `messages[2]`; `''` is the value itself. */
  readonly path: string
  readonly message: string
}
