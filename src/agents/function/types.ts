import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Format } from '../../formats/format.ts'
import type { GraphStore } from '../../graph-store/index.ts'
import type { ContentBlock, FinishReason, Message, ToolCallBlock, Usage } from '../../messages/index.ts'
import type { Principal } from '../../principal.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Run } from '../../tracing/run.ts'
import type { Agent, RunConfig } from '../agent.ts'
import type { AgentProfile } from '../profile.ts'

/** The options of `defineAgent`, which throws `AgentwireError` (`invalid_agent`) where `skills` or modes are not valid. */
export interface AgentDefinition<Input> extends AgentProfile, Pick<Agent, 'answersWith'> {
  readonly name?: string
  readonly description?: string
  /** Any Standard Schema (zod, valibot, arktype). Without one, `input` is the object as it was sent. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** Lets another process run the function again from the last checkpoint when the process of a run has died. Default: false. */
  readonly resumable?: boolean
  /** The agent's own saver. Default: the server's. */
  readonly checkpointer?: Checkpointer
  /**
   * The agent. Its result is merged into the state, as by `setState`.
   *
   * After an `interrupt` is answered, the function **runs again from its start**, with the same input and the answers so far. The
   * calls of the writer that had completed are not made again: they give what they gave, by their position. Between them the
   * function must do the same in every attempt; it fails with a `took_another_way` error where it does not. docs/functions.md has
   * the rules.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
  run(context: AgentContext<Input>): StateChange | undefined | void | Promise<StateChange | undefined | void>
}

/**
 * A change of the state. Its keys replace those of the state, and `undefined` removes a key. `messages` are appended, or replace
 * the ones with the same id, and `{ type: 'remove', id }` removes one.
 */
export type StateChange = Readonly<Record<string, unknown>>

export interface AgentContext<Input = Readonly<Record<string, unknown>>> extends Writer {
  /** The input of the run, as the schema returned it. */
  readonly input: Input
  readonly thread: { readonly id: string }
  readonly run: { readonly id: string }
  readonly assistant: { readonly id: string }
  /** Who asked for the run, as `authenticate` named them. Null on a server without authentication. */
  readonly principal: Principal | null
  readonly config: RunConfig
  /**
   * The long-term memory of who owns the thread, over all threads: the one that graphs get as `store`. Where the function runs again
   * it is read again, so read it in a `step` where that must give the same.
   */
  readonly store: GraphStore
  /**
   * Declines the task, by an `AgentRejection`. The run ends as failed, and clients are shown exactly this reason. `onError` is not
   * called.
   */
  reject(reason: string): never
}

/**
 * Writes messages, tool calls, events and state to the clients of a run. Calls take effect in their order. Awaiting their
 * promises is optional and gives back-pressure: a promise settles when the reader has caught up. A function that writes without
 * ever awaiting fails when 65,536 events or 64 Mi characters wait.
 *
 * Once the run is cancelled, calls have no effect, and their promises reject with a `cancelled` error, also those that wait
 * already: a function that awaits them goes on in its `finally`. A promise that you do not await may reject, but one that you
 * derive from it must be handled, such as that of an async function of yours. `signal` aborts at the same time.
 */
export interface Writer {
  /** The state at this point of the function, frozen, as clients see it: its messages have LangChain's flat form. */
  readonly state: Readonly<Record<string, unknown>>
  /** The messages of that state, in the normal form. */
  readonly messages: readonly Message[]
  /** Aborts when the run is cancelled or abandoned. */
  readonly signal: AbortSignal
  /** Streams an assistant message, which `end` adds to the state. An open message is ended when the function returns. */
  message(options?: MessageOptions): MessageWriter
  /** Writes a whole assistant message. */
  message(text: string, options?: MessageOptions): Promise<Message>
  /** Streams an artifact, which `end` adds to the state. An open artifact is ended when the function returns. */
  artifact(options?: ArtifactOptions): ArtifactWriter
  /**
   * Writes a whole artifact: a result of the task apart from its messages, such as a report or a file. It
   * settles like a message.
   *
   * Clients get it as events of the channel `custom:artifact`, and in the state under `artifacts`.
   * docs/functions.md has both.
   */
  artifact(content: string | ContentBlock | readonly ContentBlock[], options?: ArtifactOptions): Promise<void>
  /**
   * Streams the answer of a model: pipes a provider's stream through its format into an assistant message, and gives the
   * message. Its tool calls are blocks with ids, to be passed to `tool`. A tool call without an id from its provider gets one.
   * Of several choices only the first is shown. A function that opens the stream is not called when the call is replayed.
   *
   * Rejects with the error of the stream, or with a `model_failed` error where the provider reports one in the stream. The
   * message is then shown as failed and is not added to the state. When the run is cancelled, the stream is stopped.
   *
   * ```ts
   * const reply = await model(() => openai.chat.completions.create({ model, messages, stream: true }), openaiChat)
   * ```
   */
  model(stream: ModelStream, format: Format, options?: ModelOptions): Promise<Message>
  /**
   * Runs a tool: shows it to clients while it runs, then adds its result to the messages. Calls in the same turn of the event
   * loop share one assistant message. A tool that throws adds an error result, and the call rejects with its error. Where the
   * function runs again, the call gives what JSON keeps of the result, or an error with the same name, message and `code`.
   *
   * @param input The arguments of the call, as plain JSON. Clients see them.
   */
  tool<T>(
    name: string,
    input: Readonly<Record<string, unknown>>,
    run: (context: ToolContext) => T | Promise<T>,
    options?: CallOptions,
  ): Promise<T>
  /**
   * Runs a subagent: a function with its own messages, state and namespace, which clients show as a card. Its result is what it
   * returns, or the text of its last message where it returns nothing.
   *
   * @param description The task, which is the first message of the subagent.
   */
  subagent<T = void>(
    name: string,
    description: string,
    run: (context: Writer) => T | Promise<T>,
    options?: CallOptions,
  ): Promise<SubagentResult<T>>
  /**
   * Runs a part of the function once, and keeps its result, as JSON. It is the place for what depends on the time, on chance or on
   * another service, and clients are not shown it. Where the function runs again, the call gives the result, or an error with the
   * same name, message and `code`. A step that was cut off runs again as a whole: it sees in `state` what it had written.
   */
  step<T>(run: (context: StepContext) => T | Promise<T>): Promise<T>
  /** Sends an event of the `custom` channel. */
  custom(payload: unknown): Promise<void>
  /** Sends an event of the channel `custom:<name>`. */
  custom(name: string, payload: unknown): Promise<void>
  /**
   * Asks the user. Without an answer it rejects with an error that ends the attempt (do not catch it), and
   * the caller can write nothing more. After the answer the function runs again, and this call resolves with
   * the answer. Several interrupts may wait at once. The attempt waits for tools and subagents that run in
   * parallel with an interrupt. An answer is valid for this payload only.
   */
  interrupt<Answer = unknown>(payload: unknown): Promise<Answer>
  /** Changes the state and writes a checkpoint. Settles when it is written. Throws `AgentInputError` for an invalid change. */
  setState(change: StateChange): Promise<void>
}

/** The result of a subagent's function, or the text of its last message where the function returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
export type SubagentResult<T> = [T] extends [void] ? string : T

export interface MessageOptions {
  /** Default: an id derived from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
}

export interface ArtifactOptions {
  /** An artifact replaces the one of the state that has its id. Default: an id derived from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
  readonly description?: string
  /** Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Streams an artifact. Writing after its end throws a `TypeError`. One that ends without content has an empty text. */
export interface ArtifactWriter {
  readonly id: string
  /** Pieces that follow each other are one text block in the end. */
  text(text: string): Promise<void>
  /** A whole block of any kind. */
  block(block: ContentBlock): Promise<void>
  /** A block of JSON. */
  data(value: unknown): Promise<void>
  /** Ends the artifact and adds it to the state. Ending twice does nothing. */
  end(): Promise<void>
}

/** The chunks of a model's answer, as a provider or its SDK streams them, or a function that opens the stream. */
export type ModelStream =
  | AsyncIterable<unknown>
  | ReadableStream<unknown>
  | PromiseLike<AsyncIterable<unknown> | ReadableStream<unknown>>
  | (() =>
      | AsyncIterable<unknown>
      | ReadableStream<unknown>
      | PromiseLike<AsyncIterable<unknown> | ReadableStream<unknown>>)

export interface ModelOptions extends MessageOptions {
  /** Traces the call: the run gets its `new_token` event and its end. See `startLlmRun`. */
  readonly run?: Run
}

/** Streams a message. Writing after its end throws a `TypeError`. */
export interface MessageWriter {
  readonly id: string
  text(text: string): Promise<void>
  reasoning(text: string): Promise<void>
  /** A whole block of any kind. */
  block(block: ContentBlock): Promise<void>
  /** Adds a tool call and gives its block, whose id can be passed to `tool`. */
  toolCall(call: ToolCallRequest): Promise<ToolCallBlock & { readonly id: string }>
  usage(usage: Usage): Promise<void>
  /** Ends the message and adds it to the state. Ending twice gives the same message. */
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
  /** The id of a tool call in a message of the state. Without it, an assistant message with the call is added. */
  readonly toolCallId?: string
}

/** What a step writes with. Its messages and its state are those of the function around it. */
export interface StepContext extends Writer {
  /**
   * An idempotency key for the services that the step calls: the same where the step is cut off and runs again because the process
   * of its run was lost, and another one where another run makes it again.
   */
  readonly id: string
}

export interface ToolContext extends Pick<Writer, 'signal' | 'custom' | 'interrupt'> {
  readonly toolCallId: string
  /** Shows a piece of the tool's output while it runs. Anything but a string is sent as JSON. */
  output(delta: unknown): Promise<void>
}
