import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import {
  encodeMessage,
  type InvalidToolCallBlock,
  type Message,
  type ToolCallBlock,
} from '../../messages/index.ts'
import { type Fields, isRecord } from '../../messages/record.ts'
import { type JsonSchema, jsonSchemaOf } from '../description.ts'
import { rejectionOf, textOfThrown } from '../errors.ts'
import { isSuspended } from './scope.ts'
import { validated } from './state.ts'
import type { Tool, ToolContext, ToolDefinition, ToolInput, Writer } from './types.ts'

/** The handlers of `runToolCalls`. */
export interface ToolCallHandlers {
  /**
   * The tools, by name: made with `tool`, which checks the arguments, or functions, which get them as the model
   * wrote them. The model reads the result, or the message of a thrown error.
   */
  readonly tools?: Readonly<Record<string, Tool | ((args: never, context: ToolContext) => unknown)>>
  /**
   * The subagents, by name. The model calls the tool `task` with `{ subagent_type, description }`, which is
   * how clients recognize subagents. It reads the function's result, or the subagent's last message.
   */
  readonly subagents?: Readonly<Record<string, (context: Writer) => unknown>>
  /** The names of the functions that the user must approve before they run. A `Tool` says it itself. */
  readonly approve?: readonly string[]
}

type Call = ToolCallBlock | InvalidToolCallBlock

/** The user's decision about a call, in the format of LangChain's human-in-the-loop middleware. */
type Decision =
  | { readonly type: 'approve' }
  | { readonly type: 'edit'; readonly editedAction: { readonly args: Fields } }
  | { readonly type: 'reject'; readonly message?: string | undefined }

const DECISIONS = ['approve', 'edit', 'reject'] as const

/**
 * Answers the tool calls of a model's message: asks the user for approval where needed, in one interrupt, and
 * runs all calls in parallel. The model reads an error for a call that is invalid, fails or is rejected.
 * Returns false if the message has no calls, which means that the model is done, or if it has calls of tools that
 * the client runs (`context.request.tools`): the client gives their results in its next request.
 *
 * The interrupt is `{ actionRequests: [{ name, args }], reviewConfigs: [{ actionName, allowedDecisions }] }`,
 * and its answer `{ decisions }`, one for each request: `{ type: 'approve' }`,
 * `{ type: 'edit', editedAction: { name, args } }` or `{ type: 'reject', message? }`. If the answer has
 * another shape, the user is asked again, with an `error` that explains why.
 *
 * ```ts
 * let reply: Message
 * do reply = await context.model(() => openai.chat.completions.create(request(context.messages)), openaiChat)
 * while (await runToolCalls(context, reply, { tools: { multiply: ({ a, b }: Factors) => a * b } }))
 * ```
 */
export async function runToolCalls(
  context: Writer,
  reply: Message,
  handlers: ToolCallHandlers,
): Promise<boolean> {
  const made = reply.content.filter(isCall)
  const { tools = [] } = context.request
  const isOfClient = ({ name = '' }: Call) =>
    !Object.hasOwn(handlers.tools ?? {}, name) && tools.some((tool) => tool.function.name === name)
  const calls = made.filter((call) => !isValid(call) || !isOfClient(call))
  if (calls.length === 0) return false
  const decisions = await decide(context, calls, handlers)
  const edited = new Map(
    [...decisions].flatMap(([call, decision]) =>
      decision.type === 'edit' ? [[call, { ...call, args: decision.editedAction.args }]] : [],
    ),
  )
  if (edited.size > 0) {
    // The model must read the call that was executed, not the one that it requested.
    const content = reply.content.map((block) => edited.get(block as ToolCallBlock) ?? block)
    await context.setState({ messages: [encodeMessage({ ...reply, content })] })
  }
  const perform = async (call: Call) => {
    const decision = isValid(call) ? decisions.get(call) : undefined
    const asked = isValid(call) ? (edited.get(call) ?? call) : call
    await answer(context, asked, handlers, decision).catch((error: unknown) => {
      if (context.signal.aborted || isSuspended(error) || rejectionOf(error)) throw error
    })
  }
  await Promise.all(calls.map(perform))
  return calls.length === made.length
}

/** The calls that the provider does not run itself. */
const isCall = (block: Message['content'][number]): block is Call =>
  block.type === 'toolCall' || (block.type === 'invalidToolCall' && !block.extras?.server)

const isValid = (call: Call): call is ToolCallBlock => call.type === 'toolCall'

/** Asks the user about the calls that need approval, until there is a decision about each. */
async function decide(
  context: Writer,
  calls: readonly Call[],
  handlers: ToolCallHandlers,
): Promise<ReadonlyMap<ToolCallBlock, Decision>> {
  const decided = new Map<ToolCallBlock, Decision>()
  const asked: ToolCallBlock[] = []
  for (const call of calls.filter(isValid)) {
    const before = await beforeAsking(context, call, handlers)
    if (before === 'ask') asked.push(call)
    else if (before) decided.set(call, before)
  }
  if (asked.length === 0) return decided
  const request = {
    actionRequests: asked.map(({ name, args }) => ({ name, args })),
    reviewConfigs: [...new Set(asked.map(({ name }) => name))].map((actionName) => ({
      actionName,
      allowedDecisions: DECISIONS,
    })),
  }
  for (let error: string | undefined; ; ) {
    const given = await context.interrupt(error === undefined ? request : { ...request, error })
    const decisions = isRecord(given) && Array.isArray(given.decisions) ? given.decisions : []
    if (decisions.length === asked.length && decisions.every(isDecision)) {
      for (const [index, call] of asked.entries()) decided.set(call, decisions[index] as Decision)
      return decided
    }
    error = `Answer with { decisions }, a list of ${asked.length} with a type of ${DECISIONS.join(', ')}; an edit needs editedAction: { args }.`
  }
}

/**
 * Whether the user must approve a call. Nobody is asked about one that the schema refuses, and it does not run either:
 * a schema that asks a service may think otherwise the next time.
 */
async function beforeAsking(
  context: Writer,
  { name, args }: ToolCallBlock,
  { tools = {}, approve = [] }: ToolCallHandlers,
): Promise<'ask' | Decision | undefined> {
  const tool = Object.hasOwn(tools, name) ? tools[name]! : undefined
  if (typeof tool !== 'object') return approve.includes(name) ? 'ask' : undefined
  const { approve: asks } = tool
  if (asks === false) return undefined
  try {
    const read = (await tool.read(args)) as never
    const isAsked = asks === true || (await context.step(async () => (await asks(read, context)) === true))
    return isAsked ? 'ask' : undefined
  } catch (error) {
    if (context.signal.aborted || isSuspended(error) || rejectionOf(error)) throw error
    return { type: 'reject', message: textOfThrown(error) }
  }
}

function isDecision(given: unknown): given is Decision {
  if (!isRecord(given)) return false
  const { type, editedAction, message } = given
  if (type === 'edit') return isRecord(editedAction) && isRecord(editedAction.args)
  return type === 'approve' || (type === 'reject' && (message === undefined || typeof message === 'string'))
}

async function answer(
  context: Writer,
  call: Call,
  { tools = {}, subagents = {} }: ToolCallHandlers,
  decision: Decision | undefined,
): Promise<void> {
  const { id, name = 'unknown' } = call
  const options = { toolCallId: id! } // `model` gives every call an id.
  const refuse = (reason: string, args: Fields = {}) =>
    context.tool(name, args, () => Promise.reject(new Error(reason)), options)
  if (!isValid(call)) return refuse(`The arguments are not a JSON object: ${call.error}`)
  const { args } = call
  if (decision?.type === 'reject') return refuse(decision.message ?? 'The user rejected this call.', args)
  if (Object.hasOwn(tools, name)) {
    const tool = tools[name]!
    const run = async (inside: ToolContext) =>
      typeof tool === 'function'
        ? tool(args as never, inside)
        : tool.run((await tool.read(args)) as never, inside)
    await context.tool(name, args, run, options)
    return
  }
  const { subagent_type: type, description } = args
  if (name !== 'task' || Object.keys(subagents).length === 0)
    return refuse(`Unknown tool ${name}. Available tools: ${Object.keys(tools).join(', ')}.`, args)
  if (typeof type !== 'string' || typeof description !== 'string' || !Object.hasOwn(subagents, type))
    return refuse(
      `Expected a description, and a subagent_type that is one of: ${Object.keys(subagents).join(', ')}.`,
      args,
    )
  await context.subagent(type, description, subagents[type]!, options)
}

/**
 * Makes a tool of a function. The model's arguments are checked before a person is asked or the function is called,
 * and the model reads what is wrong. Throws `AgentwireError` `invalid_argument` for unknown or invalid options.
 *
 * ```ts
 * const refund = tool({
 *   description: 'Refunds an order',
 *   input: z.object({ order: z.number() }),
 *   approve: true,
 *   run: ({ order }) => `Order ${order} is refunded.`,
 * })
 * ```
 */
export function tool<Input extends ToolInput = JsonSchema>(definition: ToolDefinition<Input>): Tool {
  checkOptions('tool', definition, OPTIONS)
  const { description, input, jsonSchema, approve = false, run } = definition
  const schema = isStandard(input) ? input : undefined
  return {
    description,
    parameters: parametersOf(jsonSchema ?? (schema ? derived(schema) : input)),
    approve,
    read: async (args) => (schema ? validated(schema, args, 'The call') : args),
    run,
  }
}

const OPTIONS: OptionTable<ToolDefinition<ToolInput>> = {
  description: 'string',
  input: 'any',
  jsonSchema: 'object',
  approve: ['boolean', 'function'],
  run: ['required', 'function'],
}

const NO_ARGUMENTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

/** A schema may be a function, as arktype's are. */
const isStandard = (input: unknown): input is StandardSchemaV1<unknown, unknown> =>
  '~standard' in Object(input)

/** Anthropic takes no earlier draft, and the others read what the two have in common. */
function derived(schema: object): JsonSchema | null {
  try {
    return jsonSchemaOf(schema, 'draft-2020-12')
  } catch (error) {
    throw invalid(`input has a part that JSON Schema cannot express: ${textOfThrown(error)}`, error)
  }
}

/** The schema as providers take it. */
function parametersOf(schema: unknown): JsonSchema {
  if (schema === undefined) return NO_ARGUMENTS
  if (schema === null)
    throw invalid(
      'input does not say what JSON Schema it has, which the model needs. Use zod 4.2 or newer, or arktype 2.1.28 or newer, or wrap a schema of valibot in toStandardJsonSchema of @valibot/to-json-schema. For others pass jsonSchema, such as z.toJSONSchema(input)',
    )
  if (!isRecord(schema) || schema.type !== 'object')
    throw invalid(
      'input must be the schema of one object, because the arguments of a tool have names: z.object({ … }). A union can be one of its fields',
    )
  const { $schema: _, ...parameters } = schema
  return parameters
}

const invalid = (message: string, cause?: unknown) =>
  new AgentwireError('invalid_argument', `tool: ${message}.`, { cause })
