import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Format } from '../../formats/format.ts'
import type { ContentBlock, FinishReason, Message, ToolCallBlock, Usage } from '../../messages/index.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Run } from '../../tracing/run.ts'
import type { RunConfig } from '../agent.ts'

/** What `defineAgent` takes. */
export interface AgentDefinition<Input> {
  readonly name?: string
  readonly description?: string
  /** Any Standard Schema (zod, valibot, arktype). Without one, `input` is the object that was sent. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** A run whose process died may be run again from its last checkpoint by another process. Default: false. */
  readonly resumable?: boolean
  /** A saver of its own. Default: the server's. */
  readonly checkpointer?: Checkpointer
  /**
   * The agent. What it returns is merged into the state, as by `setState`.
   *
   * After `interrupt` was answered the function **runs again from its start**, with the same input and the answers so far:
   * what it did before the interrupt it does again. So keep side effects behind interrupts, or remember them in the state.
   * Messages, tool calls and subagents have ids by the order of their calls, and what was delivered before is not delivered
   * twice; that order must not depend on chance.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
  run(context: AgentContext<Input>): StateChange | undefined | void | Promise<StateChange | undefined | void>
}

/**
 * A change of the state: keys to replace, `undefined` to remove one. `messages` are appended, or replace those with the same
 * id; `{ type: 'remove', id }` removes one.
 */
export type StateChange = Readonly<Record<string, unknown>>

export interface AgentContext<Input = Readonly<Record<string, unknown>>> extends Writer {
  /** The input of the run, as the schema gave it. */
  readonly input: Input
  readonly thread: { readonly id: string }
  readonly run: { readonly id: string }
  readonly assistant: { readonly id: string }
  readonly config: RunConfig
}

/**
 * What a function tells the world with. Calls are carried out in order. Awaiting what they return is optional, and gives
 * back-pressure: the promise settles when the reader has caught up. A function that writes without ever awaiting fails when
 * 65,536 events wait.
 *
 * Once the run was cancelled or abandoned nothing has an effect and no promise settles any more: use `signal` to clean up.
 */
export interface Writer {
  /** The state now, frozen: as clients see it, with messages in LangChain's flat form. */
  readonly state: Readonly<Record<string, unknown>>
  /** The messages of the state now, in the normal form. */
  readonly messages: readonly Message[]
  /** Fires when the run is cancelled or abandoned. */
  readonly signal: AbortSignal
  /** Streams an assistant message. Settles the state with `end`; what is open when the function returns is ended for it. */
  message(options?: MessageOptions): MessageWriter
  /** Writes a whole assistant message. */
  message(text: string, options?: MessageOptions): Promise<Message>
  /**
   * Streams what a model says: pipes a provider's stream through its format into an assistant message, and gives the message.
   * Tool calls come back as blocks with ids, to be passed to `tool`; those that have none from their provider get one. Of
   * several choices the first is shown.
   *
   * Rejects with what the stream throws, or with a `model_failed` error where the provider reports one in the stream: the
   * message is shown as failed then, and is not added to the state. When the run is cancelled the stream is left.
   *
   * ```ts
   * const reply = await model(openai.chat.completions.create({ model, messages, stream: true }), openaiChat)
   * ```
   */
  model(stream: ModelStream, format: Format, options?: ModelOptions): Promise<Message>
  /**
   * Runs a tool: shows it to clients while it runs, then adds its result to the messages. Calls made in the same turn of the
   * loop share one assistant message. A tool that throws adds an error result, and the error comes back to the caller.
   *
   * @param input What the tool is called with. Plain JSON; shown to clients.
   */
  tool<T>(
    name: string,
    input: Readonly<Record<string, unknown>>,
    run: (context: ToolContext) => T | Promise<T>,
    options?: CallOptions,
  ): Promise<T>
  /**
   * Runs a subagent: a function with messages and a state of its own, shown as a card of its own. Its result is what it
   * returns, or else the text of its last message.
   *
   * @param description The task; the first message of the subagent.
   */
  subagent<T = void>(
    name: string,
    description: string,
    run: (context: Writer) => T | Promise<T>,
    options?: CallOptions,
  ): Promise<SubagentResult<T>>
  /** Sends an event of the `custom` channel. */
  custom(payload: unknown): Promise<void>
  /** Sends an event of the channel `custom:<name>`. */
  custom(name: string, payload: unknown): Promise<void>
  /**
   * Asks the user. The first time it rejects with a signal that ends the attempt (let it pass: do not catch it), and nothing
   * more is written where it was asked; after the answer the function runs again, and this call gives the answer. Several
   * may be asked at once. What tools and subagents do beside it is waited for.
   */
  interrupt<Answer = unknown>(payload: unknown): Promise<Answer>
  /** Changes the state and writes a checkpoint; settles when it is written. Throws `AgentInputError` for what is no change. */
  setState(change: StateChange): Promise<void>
}

/** What a subagent's function returns; the text of its last message, where it returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
export type SubagentResult<T> = [T] extends [void] ? string : T

export interface MessageOptions {
  /** Default: made from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
}

/** The chunks of a model's answer, as an SDK or a provider streams them. */
export type ModelStream =
  | AsyncIterable<unknown>
  | ReadableStream<unknown>
  | PromiseLike<AsyncIterable<unknown> | ReadableStream<unknown>>

export interface ModelOptions extends MessageOptions {
  /** Traces the call: gets `new_token` and its end. See `startLlmRun`. */
  readonly run?: Run
}

/** Throws a `TypeError` when it is written to after its end. */
export interface MessageWriter {
  readonly id: string
  text(text: string): Promise<void>
  reasoning(text: string): Promise<void>
  /** A whole block of any kind. */
  block(block: ContentBlock): Promise<void>
  /** Adds a tool call and gives its block, whose id can be passed to `tool`. */
  toolCall(call: ToolCallRequest): Promise<ToolCallBlock & { readonly id: string }>
  usage(usage: Usage): Promise<void>
  /** Adds the message to the state. Ending twice gives the same message. */
  end(details?: MessageEnd): Promise<Message>
}

export interface ToolCallRequest {
  readonly id?: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

export interface MessageEnd {
  readonly reason?: FinishReason
  readonly usage?: Usage
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface CallOptions {
  /** The id of a tool call that a message of the state already has. Without it an assistant message with the call is added. */
  readonly toolCallId?: string
}

export interface ToolContext extends Pick<Writer, 'signal' | 'custom' | 'interrupt'> {
  readonly toolCallId: string
  /** Shows a piece of the tool's output on the way. What is no string goes as JSON. */
  output(delta: unknown): Promise<void>
}
