import type { Message, MessageError, MessageEvent } from '../messages/index.ts'

/** The kinds of value that a format has. */
export type Shape = 'request' | 'response' | 'chunk'

/**
 * Reads the wire shape of one provider into the normal form, with pure functions.
 *
 * Readers take any value that a provider or its SDK returns, parsed from JSON. They never throw and never
 * change it. What they do not know is kept: fields in `extras` or `metadata`, blocks as `nonStandard`, events
 * in `metadata.unknownEvents`. A value of another shape becomes a best-effort result whose `issues` name the
 * path. Fields that are null, `''` or called `__proto__` are left out. Results share structure with the
 * value.
 */
export interface Format {
  /** The name by which `format: '<name>'` selects it. */
  readonly name: string
  /** The provider that defined the shape, as price tables name it. Others that use it have other names. */
  readonly provider?: string
  /** Which kind of value of this format it is, judged by its shape; undefined if it is of another format. */
  detect(value: unknown): Shape | undefined
  readRequest(request: unknown): ModelRequest
  readResponse(response: unknown): ModelResponse
  readStream(): StreamReader
}

/**
 * Reads one streamed response. Its events accumulate to the messages that `readResponse` gives for the whole
 * one. Text and reasoning blocks start empty. Block indexes count from 0 without gaps, in the order of
 * appearance.
 */
export interface StreamReader {
  push(chunk: unknown): readonly MessageEvent[]
  /**
   * The last events: one `messageFinish` per choice, with its reason, usage and metadata. Call it once the
   * stream is complete, cut off or failed. A second call returns nothing.
   */
  end(): readonly MessageEvent[]
}

export interface ModelRequest {
  /** The whole input in order, system instructions first. */
  readonly messages: readonly Message[]
  /** The tools as sent. They may hold credentials of remote tools, as `extras`: never copy them whole. */
  readonly tools?: readonly unknown[]
  readonly params: ModelParams
  readonly extras: Readonly<Record<string, unknown>>
  readonly issues?: readonly Issue[]
}

/** The parameters of a request, under the same names for all providers. */
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
   * One message per choice, in order. `metadata` has the name of the `model`, the provider's own counts as
   * `usage`, its finish reason and all other fields under its names. The first message has the `usage` of the
   * whole response.
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
 * Finds the first format of the list that knows the first value, or else the second, and so on. Pass the
 * response before the request, because responses differ more, and put specific formats before general ones.
 *
 * @param name Selects the format of this name without looking at the values.
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
