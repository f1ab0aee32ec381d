import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Format } from '../../formats/format.ts'
import type { GraphStore } from '../../graph-store/index.ts'
import type { ContentBlock, FinishReason, Message, ToolCallBlock, Usage } from '../../messages/index.ts'
import type { Principal } from '../../principal.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Run } from '../../tracing/run.ts'
import type { Agent, RunConfig } from '../agent.ts'
import type { AgentProfile } from '../profile.ts'

/** The options of `defineAgent`. It throws `AgentwireError` (`invalid_agent`) for invalid ones. */
export interface AgentDefinition<Input> extends AgentProfile, Pick<Agent, 'answersWith'> {
  readonly name?: string
  readonly description?: string
  /** Any Standard Schema (zod, valibot, arktype). Without one, `input` is the object as it was sent. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** Another process runs the function again from its last checkpoint if its process dies. Default: false. */
  readonly resumable?: boolean
  /** The agent's own saver. Default: the server's. */
  readonly checkpointer?: Checkpointer
  /**
   * The agent. Its result is merged into the state, as by `setState`.
   *
   * After an answer to an `interrupt`, the function **runs again from its start**, with the same input and
   * the answers so far. Calls of the writer that had completed are not made again: they give the same result,
   * by position. Between them the function must be deterministic, or it fails with
   * `nondeterministic_replay`. docs/functions.md has the rules.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
  run(context: AgentContext<Input>): StateChange | undefined | void | Promise<StateChange | undefined | void>
}

/**
 * A change of the state. Values replace those of the state, and `undefined` removes a key. `messages` are
 * appended, or replace those with the same id; `{ type: 'remove', id }` removes one.
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
   * The long-term memory of the thread's owner, over all threads: graphs get it as `store`. A function that
   * runs again reads it again, so read it in a `step` if that must give the same.
   */
  readonly store: GraphStore
  /** Declines the task: the run fails, and clients are shown this reason. `onError` is not called. */
  reject(reason: string): never
}

/**
 * Writes messages, tool calls, events and state to the clients of a run, in the order of the calls. Awaiting
 * them is optional and gives back-pressure: a promise settles when the reader has caught up. A function that
 * never awaits fails when 65,536 events or 64 Mi characters wait.
 *
 * Once the run is cancelled, calls have no effect and their promises reject with a `cancelled` error, also
 * those that wait already, so that a function continues in its `finally`. These promises need no handler, but
 * those that you derive from them do. `signal` aborts at the same time.
 */
export interface Writer {
  /** The current state, frozen, as clients see it: its messages have LangChain's flat form. */
  readonly state: Readonly<Record<string, unknown>>
  /** The messages of that state, in the normal form. */
  readonly messages: readonly Message[]
  /** Aborts when the run is cancelled or abandoned. */
  readonly signal: AbortSignal
  /** Streams an assistant message, which `end` or the end of the function adds to the state. */
  message(options?: MessageOptions): MessageWriter
  /** Writes a whole assistant message. */
  message(text: string, options?: MessageOptions): Promise<Message>
  /** Streams an artifact, which `end` adds to the state. The end of the function ends open artifacts. */
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
   * Streams the answer of a model: reads a provider's stream with its format into an assistant message, and
   * gives the message. Its tool calls are blocks with ids, to be passed to `tool`; calls without an id get
   * one. Only the first of several choices is shown. A function that opens the stream is not called in a
   * replay.
   *
   * Rejects with the error of the stream, or with `model_failed` for an error that the provider reports in
   * it. The message is then shown as failed and not added to the state. A cancel of the run stops the stream.
   *
   * ```ts
   * const reply = await model(() => openai.chat.completions.create({ ...request, stream: true }), openaiChat)
   * ```
   */
  model(stream: ModelStream, format: Format, options?: ModelOptions): Promise<Message>
  /**
   * Runs a tool: shows it to clients, then adds its result to the messages. Calls in the same turn of the
   * event loop share one assistant message. If the tool throws, an error result is added, and the call
   * rejects. Where the function runs again, the call gives the result as JSON, or an error with the same
   * name, message and `code`.
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
   * Runs a subagent: a function with its own messages, state and namespace, which clients show as a card.
   * Gives what it returns, or the text of its last message.
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
   * Runs a part of the function once and keeps its result as JSON, for what depends on the time, on chance or
   * on another service. Clients are not shown it. Where the function runs again, the call gives the result,
   * or an error with the same name, message and `code`. An interrupted step runs again as a whole: `state`
   * has what it had written.
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
  /** Changes the state; settles when its checkpoint is written. Throws `AgentInputError` if invalid. */
  setState(change: StateChange): Promise<void>
}

/** The result of a subagent's function, or the text of its last message if the function returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
export type SubagentResult<T> = [T] extends [void] ? string : T

export interface MessageOptions {
  /** Default: an id derived from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
}

export interface ArtifactOptions {
  /** It replaces the artifact with this id. Default: derived from the run and the order of calls. */
  readonly id?: string
  readonly name?: string
  readonly description?: string
  /** Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Streams an artifact. Writing after its end throws a `TypeError`. An empty one gets an empty text. */
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

/** The chunks of a model's answer, as a provider or its SDK streams them, or a function that opens them. */
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
  /** The id of a tool call in the state. Without it, an assistant message with the call is added. */
  readonly toolCallId?: string
}

/** What a step writes with. Its messages and its state are those of the function around it. */
export interface StepContext extends Writer {
  /**
   * An idempotency key for services that the step calls: the same if the step runs again because its process
   * was lost, and another one in another run.
   */
  readonly id: string
}

export interface ToolContext extends Pick<Writer, 'signal' | 'custom' | 'interrupt'> {
  readonly toolCallId: string
  /** Shows a piece of the tool's output while it runs. Anything but a string is sent as JSON. */
  output(delta: unknown): Promise<void>
}
