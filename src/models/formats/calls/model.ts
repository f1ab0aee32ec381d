import type { Message } from '../../../messages/index.ts'
import type { Format } from '../format.ts'

/**
 * A model that can be asked: a provider's client or whatever else gives answers, and the format that reads them.
 *
 * ```ts
 * const reply = await context.model(() => model.stream({ messages: context.messages }), model)
 * ```
 */
export interface Model {
  readonly format: Format
  /** Asks the model, and opens its answer as a stream of chunks. Rejects with the error of the client. */
  stream(input: ModelInput): ModelAnswer | PromiseLike<ModelAnswer>
}

/** The chunks of an answer, as the client gives them. */
export type ModelAnswer = AsyncIterable<unknown> | ReadableStream<unknown>

/** What a model is asked, in one form for all providers. */
export interface ModelInput {
  /** The thread. What the provider would refuse of it is changed or left out. */
  readonly messages: readonly Message[]
  /** What the model is told before the thread. It is not part of the thread. */
  readonly instructions?: string | undefined
  readonly tools?: readonly ToolSchema[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** A tool as a model sees it. */
export interface ToolSchema {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of an object: the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** More fields of the provider's request, under its own names, such as `{ temperature: 0 }`. */
export type ModelSettings = Readonly<Record<string, unknown>>

type Fields = Readonly<Record<string, unknown>>

/** Asks a model of a client. `written` is the thread in the provider's format. */
export type Ask<Client> = (
  client: Client,
  written: Fields,
  input: ModelInput & { readonly model: string; readonly settings: ModelSettings },
) => ModelAnswer | PromiseLike<ModelAnswer>

/** The thread with its instructions first. */
export const withInstructions = ({ messages, instructions }: ModelInput): readonly Message[] =>
  instructions ? [{ role: 'system', content: [{ type: 'text', text: instructions }] }, ...messages] : messages

/** The tools in a provider's form, or undefined if there are none: APIs refuse an empty list. */
export const toolsOf = <Written>(
  { tools = [] }: ModelInput,
  write: (tool: ToolSchema) => Written,
): Written[] | undefined => (tools.length > 0 ? tools.map(write) : undefined)
