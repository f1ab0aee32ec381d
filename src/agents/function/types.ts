import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Principal } from '../../core/principal.ts'
import type { ContentBlock, FinishReason, Message, ToolCallBlock, Usage } from '../../messages/index.ts'
import type { Model } from '../../models/formats/calls/model.ts'
import type { Format } from '../../models/formats/format.ts'
import type { Run } from '../../models/tracing/run.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { GraphStore } from '../../storage/graph-store/index.ts'
import type { Agent, RunConfig } from '../agent.ts'
import type { JsonSchema } from '../description.ts'
import type { ModelRequest } from '../model-request.ts'
import type { AgentProfile } from '../profile.ts'

/** The options that every agent of `defineAgent` has. */
interface AgentOptions extends AgentProfile, Pick<Agent, 'answersWith'> {
  /** The name that other agents see in the agent's card. Default: the assistant id. */
  readonly name?: string
  /** What the agent does, for the agents and models that choose it. */
  readonly description?: string
  /**
   * Whether another process continues the agent from its last checkpoint if its process dies. Finished calls
   * are not repeated, and one that was cut off is made again. Default: true with `model`, false with `run`.
   */
  readonly resumable?: boolean
  /** The agent's own checkpointer. Default: the server's. */
  readonly checkpointer?: Checkpointer
}

/** The options of `defineAgent` for an agent that is a function. */
export interface AgentDefinition<Input> extends AgentOptions {
  readonly model?: never
  /** Any Standard Schema (zod, valibot, arktype). Without one, `input` is the object that the client sent. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /**
   * The agent. A string that it returns is the answer, as if it were written with `message`, and so is a message.
   * Any other object is merged into the state, like the change of `setState`. A generator yields the pieces of a
   * text, or whole messages.
   *
   * After an answer to an `interrupt`, the function **runs again from its start**, with the same input and
   * the answers so far. Writer calls that completed earlier are not repeated: they return the same result, by
   * position. Between context calls, the function must be deterministic, otherwise it fails with
   * `nondeterministic_replay`. docs/function-agents.md has the rules.
   */
  run(context: AgentContext<Input>): AgentReturn | AnswerStream | Promise<AgentReturn | AnswerStream>
}

/**
 * The options of `defineAgent` for an agent that asks a model, runs the tools that the model calls, and asks
 * again, until the model calls none. src/agents/function/loop.ts is that loop.
 */
export interface ModelAgentDefinition extends AgentOptions, LoopOptions {
  readonly run?: never
}

/** What a model is told and may call. */
export interface LoopOptions {
  /** Such as `openai('gpt-5-mini', new OpenAI())`, with `openai` of `agentwire/models`. */
  readonly model: Model
  /** What the model is told before the thread. A function is called for each step. */
  readonly instructions?: string | ((context: Writer) => string | Promise<string>)
  /** The tools, by the names that the model calls. */
  readonly tools?: Readonly<Record<string, Tool>>
  /** The subagents, by name. The model calls them through one tool, `task`. */
  readonly subagents?: Readonly<Record<string, Subagent>>
  /** How often the model is asked in one run before the run fails. Default: 25. */
  readonly maxSteps?: number
  /** Called when the tools of an answer have run: true ends the run. */
  readonly stopWhen?: (reply: Message, context: Writer) => boolean | Promise<boolean>
}

/** An agent that works for another one, with messages of its own. */
export type Subagent = {
  /** What it does, for the model that chooses it. */
  readonly description: string
} & (
  | (Omit<LoopOptions, 'model'> & {
      /** Default: the model of the agent that calls it. */
      readonly model?: Model
      readonly run?: never
    })
  | {
      /** Its result is what the model reads, or its last message if it returns nothing. */
      readonly run: (context: Writer) => unknown
    }
)

/** Pieces of a text, which become one message, and whole messages. A message ends the text before it. */
export type AnswerStream =
  | AsyncGenerator<string | Message, AgentReturn>
  | Generator<string | Message, AgentReturn>
  | AsyncIterable<string | Message>

/** What an agent function returns: a change of the state, a message, the text of one, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
export type AgentReturn = StateChange | Message | string | undefined | void

/**
 * A change of the state. Values replace those of the state, and `undefined` removes a key. `messages` are
 * appended, or replace those with the same id; `{ type: 'remove', id }` removes one.
 */
export type StateChange = Readonly<Record<string, unknown>>

/** The argument of an agent function: its input, its run, and the writer to its clients. */
export interface AgentContext<Input = Readonly<Record<string, unknown>>> extends Writer {
  /** The input of the run, as the schema returned it. */
  readonly input: Input
}

/** What agents, their subagents and their tools know of the run. */
export interface RunDetails {
  /** The thread that the run belongs to: its conversation. */
  readonly thread: { readonly id: string }
  /** The current run. The answer to an interrupt starts another run. */
  readonly run: { readonly id: string }
  /** The assistant that was called. */
  readonly assistant: { readonly id: string }
  /** The caller that requested the run, from `authenticate`. Null on a server without authentication. */
  readonly principal: Principal | null
  /** The settings of the run: what the client sent, over those of the assistant. */
  readonly config: RunConfig
  /** What the client asks of the model, such as its tools and its temperature. Empty if it asks nothing. */
  readonly request: ModelRequest
  /**
   * The long-term memory of the thread's owner, shared by all of the owner's threads. Graphs get it as
   * `store`. A function that runs again reads it again, so use a `step` if the result must be the same.
   */
  readonly store: GraphStore
  /** Declines the task: the run fails, and clients see this reason. `onError` is not called. */
  reject(reason: string): never
}

/**
 * Writes messages, tool calls, events and state to the clients of a run, in the order of the calls. Awaiting
 * the calls is optional and applies backpressure: a promise settles when the reader has caught up. A function
 * that never awaits fails when 65,536 events or 64 Mi characters are queued.
 *
 * When the run is cancelled, calls have no effect and their promises, including pending ones, reject with a
 * `cancelled` error, so that a function continues in its `finally`. These promises need no handler, but
 * promises that you derive from them do. `signal` aborts at the same time.
 */
export interface Writer extends RunDetails {
  /** The current state, frozen, as clients see it: its messages have LangChain's flat form. */
  readonly state: Readonly<Record<string, unknown>>
  /** The messages of the state in the normal form. */
  readonly messages: readonly Message[]
  /** Aborts when the run is cancelled or abandoned. */
  readonly signal: AbortSignal
  /** Streams an assistant message. `end`, or the end of the function, adds it to the state. */
  message(options?: MessageOptions): MessageWriter
  /** Writes a complete assistant message. */
  message(text: string, options?: MessageOptions): Promise<Message>
  /** Streams an artifact. `end` adds it to the state. The end of the function ends open artifacts. */
  artifact(options?: ArtifactOptions): ArtifactWriter
  /**
   * Writes a complete artifact: a result of the task that is separate from its messages, such as a report or
   * a file. It settles like a message.
   *
   * Clients get it as events of the channel `custom:artifact`, and in the state under `artifacts`.
   * docs/artifacts.md describes both.
   */
  artifact(content: string | ContentBlock | readonly ContentBlock[], options?: ArtifactOptions): Promise<void>
  /**
   * Streams a model's answer: reads a provider's stream with the format of its API into an assistant message, and
   * returns the message. Its tool calls are blocks with ids, which you can pass to `tool`; calls without an
   * id get one. If there are several choices, only the first is shown. If `stream` is a function, it is not
   * called in a replay.
   *
   * Rejects with the error of the stream, or with `model_failed` for an error that the provider reports in
   * the stream. The message is then shown as failed and not added to the state. Cancelling the run stops the
   * stream.
   *
   * ```ts
   * const request = { model: 'gpt-5', stream: true, ...openai.writeRequest(messages) }
   * const reply = await model(() => client.chat.completions.create(request), openai)
   * ```
   */
  model(
    stream: ModelStream,
    api: Format | { readonly format: Format },
    options?: ModelOptions,
  ): Promise<Message>
  /**
   * Runs a tool: shows it to clients, then adds its result to the messages. Calls in the same turn of the
   * event loop share one assistant message. If the tool throws, an error result is added, and the call
   * rejects. If the function runs again, the call returns the result as JSON, or an error with the same name,
   * message and `code`.
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
   * Returns its result, or the text of its last message.
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
   * Runs part of the function once and stores its result as JSON. Use it for anything that depends on time,
   * randomness or another service. Clients do not see it. If the function runs again, the call returns the
   * stored result, or an error with the same name, message and `code`. An interrupted step runs again from
   * its beginning: `state` has what it already wrote.
   */
  step<T>(run: (context: StepContext) => T | Promise<T>): Promise<T>
  /** Sends an event of the `custom` channel. */
  custom(payload: unknown): Promise<void>
  /** Sends an event of the channel `custom:<name>`. */
  custom(name: string, payload: unknown): Promise<void>
  /**
   * Asks the user. Without an answer it rejects with an error that ends the attempt (do not catch it), and
   * the caller can write nothing more. After the answer the function runs again, and this call resolves with
   * the answer. Several interrupts may be pending at once. The attempt waits for tools and subagents that run
   * in parallel with an interrupt. An answer is valid only for this payload.
   */
  interrupt<Answer = unknown>(payload: unknown): Promise<Answer>
  /**
   * Changes the state. Settles when its checkpoint is written. Throws `AgentInputError` for an invalid
   * change.
   */
  setState(change: StateChange): Promise<void>
}

/** The result of a subagent's function, or the text of its last message if the function returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing returns void
export type SubagentResult<T> = [T] extends [void] ? string : T

/** The optional fields of a message. */
export interface MessageOptions {
  /** Default: an id derived from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
}

/** The optional fields of an artifact. */
export interface ArtifactOptions {
  /** Replaces the artifact with this id. Default: an id derived from the run and the order of the calls. */
  readonly id?: string
  readonly name?: string
  readonly description?: string
  /** Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/**
 * Streams an artifact. Writing after its end throws a `TypeError`. An empty artifact gets an empty text
 * block.
 */
export interface ArtifactWriter {
  readonly id: string
  /** Consecutive texts become one text block. */
  text(text: string): Promise<void>
  /** Adds a complete block of any kind. */
  block(block: ContentBlock): Promise<void>
  /** Adds a JSON block. */
  data(value: unknown): Promise<void>
  /** Ends the artifact and adds it to the state. Ending twice has no effect. */
  end(): Promise<void>
}

/**
 * The chunks of a model's answer, as a provider or its SDK streams them, or a function that opens the stream.
 */
export type ModelStream =
  | AsyncIterable<unknown>
  | ReadableStream<unknown>
  | PromiseLike<AsyncIterable<unknown> | ReadableStream<unknown>>
  | (() =>
      | AsyncIterable<unknown>
      | ReadableStream<unknown>
      | PromiseLike<AsyncIterable<unknown> | ReadableStream<unknown>>)

/** The options of `model`. */
export interface ModelOptions extends MessageOptions {
  /** Traces the call: the run gets its `new_token` event and its end. See `startLlmRun`. */
  readonly run?: Run
}

/** Streams a message. Writing after its end throws a `TypeError`. */
export interface MessageWriter {
  readonly id: string
  text(text: string): Promise<void>
  reasoning(text: string): Promise<void>
  /** Adds a complete block of any kind. */
  block(block: ContentBlock): Promise<void>
  /** Adds a tool call and returns its block, whose id you can pass to `tool`. */
  toolCall(call: ToolCallRequest): Promise<ToolCallBlock & { readonly id: string }>
  usage(usage: Usage): Promise<void>
  /** Ends the message and adds it to the state. Ending twice returns the same message. */
  end(details?: MessageEnd): Promise<Message>
}

/** A tool call to add to a message. Default `id`: derived from the run and the order of the calls. */
export interface ToolCallRequest {
  readonly id?: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The optional fields at the end of a message. */
export interface MessageEnd {
  readonly reason?: FinishReason
  readonly usage?: Usage
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The options of `tool` and `subagent`. */
export interface CallOptions {
  /** The id of a tool call in the state. Without it, an assistant message with the call is added. */
  readonly toolCallId?: string
}

/** The writer of a step. Its messages and state are those of the enclosing function. */
export interface StepContext extends Writer {
  /**
   * An idempotency key for services that the step calls. It stays the same if the step runs again after a
   * lost process, and differs between runs.
   */
  readonly id: string
}

/** The context of a running tool. */
export interface ToolContext extends RunDetails, Pick<Writer, 'signal' | 'custom' | 'interrupt'> {
  readonly toolCallId: string
  /** Streams part of the tool's output while it runs. Values other than strings are sent as JSON. */
  output(delta: unknown): Promise<void>
}

/** The arguments of a tool: any Standard Schema (zod, valibot, arktype), or a JSON Schema, which checks nothing. */
export type ToolInput = StandardSchemaV1<unknown, unknown> | JsonSchema

/** What a tool's functions get: the output of its schema. */
export type ToolArgs<Input extends ToolInput> =
  Input extends StandardSchemaV1<unknown, infer Args> ? Args : Readonly<Record<string, unknown>>

/** The options of `tool`. */
export interface ToolDefinition<Input extends ToolInput> {
  /** What the tool does, for the model. */
  readonly description?: string
  /** Default: no arguments. */
  readonly input?: Input
  /** The JSON Schema of `input`, for a library that does not give it: zod 3, zod/mini, valibot. */
  readonly jsonSchema?: JsonSchema
  /**
   * Whether a person must approve a call before it runs. A function is asked once for each call, and its answer is
   * kept. Default: false.
   */
  readonly approve?: boolean | ((args: ToolArgs<Input>, context: Writer) => boolean | Promise<boolean>)
  /** Runs the tool. The model reads what it returns as text or JSON, or the message of the error that it throws. */
  readonly run: (args: ToolArgs<Input>, context: ToolContext) => unknown
}

/** A tool of an agent, made by `tool`. */
export interface Tool {
  readonly description?: string | undefined
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema
  readonly approve: boolean | ((args: never, context: Writer) => boolean | Promise<boolean>)
  /** The arguments as the schema returns them. Throws `AgentInputError` with the paths of what is wrong. */
  read(args: unknown): Promise<unknown>
  readonly run: (args: never, context: ToolContext) => unknown
}
