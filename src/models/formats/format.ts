import type { Message, MessageError, MessageEvent } from '../../messages/index.ts'

/** The kinds of value that a format has. */
export type Shape = 'request' | 'response' | 'chunk'

/**
 * Reads one provider's wire format into the normal form, with pure functions.
 *
 * Readers accept any value that a provider or its SDK returns, parsed from JSON. They never throw and never
 * change it. Unknown parts are kept: fields in `extras` or `metadata`, blocks as `nonStandard`, events in
 * `metadata.unknownEvents`. A value of another shape becomes a best-effort result whose `issues` name the
 * path. Fields that are null, `''` or named `__proto__` are left out. Results share structure with the value.
 */
export interface Format {
  /** The name for `format: '<name>'`. */
  readonly name: string
  /**
   * The provider that defined the format, as price tables name it. Other providers that use it have other
   * names.
   */
  readonly provider?: string
  /** The kind of value, judged by its shape. Undefined if the value has another format. */
  detect(value: unknown): Shape | undefined
  readRequest(request: unknown): ModelRequest
  readResponse(response: unknown): ModelResponse
  readStream(): StreamReader
}

/**
 * Reads one streamed response. Its events add up to the messages that `readResponse` returns for the complete
 * one. Text and reasoning blocks start empty. Block indexes count from 0 without gaps, in order of
 * appearance.
 */
export interface StreamReader {
  push(chunk: unknown): readonly MessageEvent[]
  /**
   * The last events: one `messageFinish` per choice, with its reason, usage and metadata. Call it when the
   * stream is complete, cancelled or failed. A second call returns nothing.
   */
  end(): readonly MessageEvent[]
}

export interface ModelRequest {
  /** The complete input in order, system instructions first. */
  readonly messages: readonly Message[]
  /**
   * The tools as sent. They may contain credentials of remote tools, as may `extras`: never copy them
   * completely.
   */
  readonly tools?: readonly unknown[]
  readonly params: ModelParams
  readonly extras: Readonly<Record<string, unknown>>
  readonly issues?: readonly Issue[]
}

/** A request's parameters, with the same names for all providers. */
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
   * One message per choice, in order. `metadata` has the model's name as `model`, the provider's own counts
   * as `usage`, its finish reason, and all other fields under their names. The first message has the `usage`
   * of the complete response.
   */
  readonly messages: readonly Message[]
  readonly error?: MessageError
  readonly issues?: readonly Issue[]
}

/** A part of a value that does not match the format. */
export interface Issue {
  /** The path as in code: `choices`, `messages[2]`, or `''` for the value itself. */
  readonly path: string
  readonly message: string
}

/**
 * Finds the first format in the list that matches the first value, otherwise the second, and so on. Pass the
 * response before the request, because responses differ more, and put specific formats before general ones.
 *
 * @param name Selects the format with this name without checking the values.
 */
export function detectFormat(
  formats: readonly Format[],
  values: readonly unknown[],
  name?: string,
): Format | undefined {
  if (name !== undefined) return formats.find((format) => format.name === name)
  for (const value of values) {
    const found = formats.find((format) => format.detect(value))
    if (found) return found
  }
  return undefined
}
