import { fromJsonSchema } from '@modelcontextprotocol/server'
import type { Agent } from '../../agents/agent.ts'
import type { AgentSchemas, JsonSchema } from '../../agents/description.ts'
import { AgentInputError } from '../../agents/errors.ts'
import { encodeMessage } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { isThreadId } from '../kit/ids.ts'
import type { Fields, McpOptions } from './options.ts'

/** The parsed arguments of a call. */
export interface ToolInput {
  readonly input: unknown
  /** The conversation to continue. Undefined starts a new one. */
  readonly threadId: string | undefined
  /** The id of the user's message, if the input is a message. */
  readonly messageId?: string | undefined
}

interface Input {
  readonly schema: JsonSchema
  /** Throws `AgentInputError` if the arguments do not match the schema. */
  read(args: Fields): ToolInput
}

const THREAD = {
  type: 'string',
  description: 'To go on with an earlier conversation: the threadId that its last answer named.',
}

const MESSAGE: JsonSchema = { type: 'string', minLength: 1, description: 'What to tell the assistant.' }

const described = new WeakMap<Agent, Promise<AgentSchemas | undefined>>()

/** If the agent's schemas cannot be read, the agent counts as one without schemas. */
function schemasOf(agent: Agent): Promise<AgentSchemas | undefined> {
  const read = async () => (await agent.describe?.())?.schemas()
  const known = described.get(agent) ?? read().catch(() => undefined)
  described.set(agent, known)
  return known
}

/** The input of a tool: a message or the agent's input schema, and the conversation to continue. */
export async function inputOf(
  agent: Agent,
  { input = 'message', threads = true }: McpOptions,
): Promise<Input> {
  const own = (await schemasOf(agent))?.input
  const schema = own ? objectSchema(own) : undefined
  const { takesMessages = true } = agent
  const isMessage = input === 'message' && takesMessages && (!schema || 'messages' in propertiesOf(schema))
  const base: JsonSchema = isMessage
    ? { type: 'object', properties: { message: MESSAGE }, required: ['message'] }
    : (schema ?? channelsOf(agent))
  const properties = propertiesOf(base)
  const hasThread = threads && !('threadId' in properties)
  const whole = hasThread ? { ...base, properties: { ...properties, threadId: THREAD } } : base
  const check = checkOf(whole)
  return {
    schema: whole,
    read(args) {
      check(args)
      const { threadId, ...rest } = args
      const given = hasThread ? (threadId as string | undefined) : undefined
      if (given !== undefined && !isThreadId(given))
        throw new AgentInputError(
          'threadId: this conversation does not exist. Omit threadId to start a new one.',
        )
      if (!isMessage) return { input: hasThread ? rest : args, threadId: given }
      const id = crypto.randomUUID()
      const text = String(args.message)
      const message = encodeMessage({ role: 'user', id, content: [{ type: 'text', text }] })
      return { input: { messages: [message] }, threadId: given, messageId: id }
    },
  }
}

/** The input keys of an agent without an input schema, such as a graph whose state is an `Annotation`. */
const channelsOf = ({ inputKeys }: Agent): JsonSchema => ({
  type: 'object',
  ...(Array.isArray(inputKeys) &&
    inputKeys.length > 0 && { properties: Object.fromEntries(inputKeys.map((key) => [key, {}])) }),
})

/**
 * The tool's structured output, if the agent has an output schema that is not a list of messages. No field is
 * required, because an interrupted graph has not written all of its state.
 */
export async function outputSchemaOf(
  agent: Agent,
  { threads = true }: Pick<McpOptions, 'threads'>,
): Promise<JsonSchema | undefined> {
  const own = (await schemasOf(agent))?.output
  const schema = own ? objectSchema(own) : undefined
  const properties = schema && propertiesOf(schema)
  if (!properties || Object.keys(properties).length === 0 || 'messages' in properties) return undefined
  const { required: _, additionalProperties: __, ...rest } = schema
  const hasThread = threads && !('threadId' in properties)
  return hasThread ? { ...rest, properties: { ...properties, threadId: { type: 'string' } } } : rest
}

export const propertiesOf = ({ properties }: JsonSchema): Fields => Object(properties)

/**
 * A schema with an object at its root, as tools require, and no references to other documents. Undefined for
 * any other schema.
 */
function objectSchema(schema: JsonSchema): JsonSchema | undefined {
  const rest = withoutRemote(schema) as Record<string, unknown>
  const { $ref, $defs, definitions } = rest
  const named = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(typeof $ref === 'string' ? $ref : '')?.[1]
  const target = named === undefined ? rest : ({ ...Object(definitions), ...Object($defs) } as Fields)[named]
  if (!isRecord(target) || (target.type !== 'object' && !isRecord(target.properties))) return undefined
  return {
    ...target,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    type: 'object',
  }
}

function withoutRemote(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRemote)
  if (!isRecord(value)) return value
  const { $ref } = value
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return {}
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutRemote(one)]))
}

type Check = (value: unknown) => void

/** Validates values with a schema. A schema that the validator does not support accepts everything. */
export function checkOf(schema: JsonSchema): Check {
  const standard = compiled(schema)?.['~standard']
  return (value) => {
    const result = standard?.validate(value)
    if (result && !(result instanceof Promise) && result.issues)
      throw new AgentInputError(result.issues.map(({ message }) => message).join(' '))
  }
}

function compiled(schema: JsonSchema): ReturnType<typeof fromJsonSchema> | undefined {
  try {
    return fromJsonSchema(schema as never)
  } catch {
    return undefined
  }
}
