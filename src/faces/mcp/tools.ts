import type { Agent } from '../../agents/agent.ts'
import type { JsonSchema } from '../../agents/description.ts'
import { HttpError } from '../../core/http/index.ts'
import { type AssistantRecord, searchAssistants } from '../../engine/assistants/index.ts'
import { isRecord } from '../../messages/record.ts'
import { permit } from '../kit/access.ts'
import type { McpCall, McpContext } from './options.ts'
import { inputOf, outputSchemaOf } from './schemas.ts'

/** An assistant as a tool. */
export interface AssistantTool {
  readonly name: string
  /** The id that permissions use: the graph id, or the assistant's own id if a client created it. */
  readonly assistantId: string
  readonly graphId: string
  readonly agent: Agent
  /** The stored assistant. Absent for the graph's own. */
  readonly made?: AssistantRecord | undefined
}

/** The tool that answers the questions of other tools. */
export const ANSWER_TOOL = 'answer_question'

/** Hosts add a prefix, such as `mcp__server__`, and models accept at most 64 characters. */
const MAX_NAME = 40
const MAX_STORED = 100

/** Every model provider accepts these characters. One name that it refuses disables a host's connection. */
const legalName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, MAX_NAME) || '_'

/** The tools of the agents. If two ids become the same tool name, the second name gets a number. */
function graphTools({ engine: { agents }, options }: McpContext): readonly AssistantTool[] {
  const taken = new Set([ANSWER_TOOL])
  const all = [...agents].map(([graphId, agent]): AssistantTool => {
    const legal = legalName(graphId)
    let name = legal
    for (let n = 2; taken.has(name); n++) name = `${legal.slice(0, MAX_NAME - 4)}_${n}`
    taken.add(name)
    return { name, assistantId: graphId, graphId, agent }
  })
  return options.agents ? all.filter(({ graphId }) => options.agents!.includes(graphId)) : all
}

/** The tools of stored assistants. Their names end with the end of their ids. */
async function storedAssistantTools({ context, call }: McpCall): Promise<readonly AssistantTool[]> {
  const { engine, authorize, options } = context
  const permitted = await unlessForbidden(permit(authorize, call, 'assistants:search', {}))
  if (!options.stored || !permitted) return []
  const page = { offset: 0, limit: MAX_STORED, fits: ({ isSystem }: AssistantRecord) => !isSystem }
  const { items } = await searchAssistants(engine, permitted.principal, page)
  return items.flatMap((made): readonly AssistantTool[] => {
    const { assistantId, graphId, name } = made
    const agent = engine.agents.get(graphId)
    const unique = `${legalName(name).slice(0, MAX_NAME - 13)}_${assistantId.slice(-12)}`
    const isTool = options.agents?.includes(graphId) ?? true
    return agent && isTool ? [{ name: unique, assistantId, graphId, agent, made }] : []
  })
}

async function unlessForbidden<T>(permission: Promise<T>): Promise<T | undefined> {
  try {
    return await permission
  } catch (error) {
    if (error instanceof HttpError && error.status === 403) return undefined
    throw error
  }
}

/** The tool with this name. The caller's permission is checked when it runs. */
export async function findTool(asked: McpCall, name: string): Promise<AssistantTool | undefined> {
  const named = (tool: AssistantTool): boolean => tool.name === name
  return (
    graphTools(asked.context).find(named) ??
    (asked.context.options.stored ? await storedAssistantTools(asked) : []).find(named)
  )
}

/** The tool of a graph, which reads the graph's answers. */
export const toolOfGraph = (context: McpContext, graphId: string): AssistantTool | undefined =>
  graphTools(context).find((tool) => tool.graphId === graphId)

interface ToolList {
  readonly tools: {
    name: string
    title?: string
    description: string
    inputSchema: { [key: string]: unknown; type: 'object' }
    outputSchema?: { [key: string]: unknown; type: 'object' }
  }[]
}

/** `tools/list`: the assistants that the caller may read, always in the same order. */
export async function listTools(asked: McpCall): Promise<ToolList> {
  const { context, call } = asked
  const { authorize, options } = context
  const readable = graphTools(context).map(async (tool) => {
    const { assistantId } = tool
    return (await unlessForbidden(permit(authorize, call, 'assistants:read', { assistantId }))) ? [tool] : []
  })
  const shown = [
    ...(await Promise.all(readable)).flat(),
    ...(options.stored ? await storedAssistantTools(asked) : []),
  ]
  const tools = await Promise.all(
    shown.map(async ({ name, agent, graphId, made }) => {
      const { schema } = await inputOf(agent, options)
      const output = await outputSchemaOf(agent, options)
      const title = made?.name ?? agent.name
      return {
        name,
        ...(title !== undefined && { title }),
        description:
          made?.description ??
          agent.description ??
          `Runs the assistant ${JSON.stringify(made?.name ?? graphId)}.`,
        inputSchema: { ...withTypes(schema), type: 'object' as const },
        ...(output && { outputSchema: { ...output, type: 'object' as const } }),
      }
    }),
  )
  const answers = options.answers !== false && tools.length > 0 ? [answerTool] : []
  return { tools: [...tools, ...answers] }
}

const answerTool = {
  name: ANSWER_TOOL,
  title: 'Answer a question',
  description:
    'Answers what an assistant has asked in the result of another tool, so that it goes on. Ask the user first where the answer is theirs.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      threadId: { type: 'string', description: 'The threadId that the question came with.' },
      questionId: { type: 'string', description: 'The questionId, where several questions were asked.' },
      answer: {
        type: 'string',
        description: 'What the question asks for: a text, or JSON where its schema says an object.',
      },
    },
    required: ['threadId', 'answer'],
  } satisfies JsonSchema,
}

/** The types of a property that accepts anything. */
const ANY = ['string', 'number', 'boolean', 'object', 'array']

/** The types of JSON values, with those of JSON Schema. */
const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const schemasIn = (value: unknown): readonly JsonSchema[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

/**
 * The same schema, in which each property has a `type`, because Gemini rejects a tool with a property that
 * has none. The types are those that the property's other keywords allow.
 */
function withTypes(schema: JsonSchema): JsonSchema {
  const definitions = { ...Object(schema.definitions), ...Object(schema.$defs) } as Record<string, unknown>

  /** The types that a schema accepts, or undefined if it says nothing about them. */
  function typesOf(one: JsonSchema, seen: readonly unknown[] = []): readonly string[] | undefined {
    if (one.type !== undefined) return [one.type].flat() as string[]
    if ('const' in one) return [typeOf(one.const)]
    if (Array.isArray(one.enum)) return [...new Set(one.enum.map(typeOf))]
    const branches = [...schemasIn(one.anyOf), ...schemasIn(one.oneOf)]
    if (branches.length > 0) {
      const all = branches.map((branch) => typesOf(branch, seen))
      return all.includes(undefined) ? undefined : [...new Set(all.flatMap((types) => types ?? []))]
    }
    for (const part of schemasIn(one.allOf)) {
      const types = typesOf(part, seen)
      if (types) return types
    }
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(one.$ref))?.[1]
    const target = name === undefined ? undefined : definitions[name]
    if (isRecord(target) && !seen.includes(target)) return typesOf(target, [...seen, target])
    if (isRecord(one.properties)) return ['object']
    return one.items === undefined ? undefined : ['array']
  }

  function property(value: unknown): unknown {
    if (!isRecord(value)) return value === true ? { type: ANY } : value
    const types = typesOf(value) ?? ANY
    return { ...(walk(value) as JsonSchema), type: types.length === 1 ? types[0] : types }
  }

  const each = (value: unknown, change: (one: unknown) => unknown): unknown =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]))
      : value

  /** Changes the properties of a schema and of the schemas in it. */
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        if (key === 'properties') return [key, each(one, property)]
        if (key === '$defs' || key === 'definitions') return [key, each(one, walk)]
        return [key, NESTED.has(key) ? walk(one) : one]
      }),
    )
  }

  return walk(schema) as JsonSchema
}

/** The keywords whose values are schemas, or lists of schemas. */
const NESTED = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'])
