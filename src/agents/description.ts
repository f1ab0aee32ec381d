/** JSON Schema of any draft. */
export type JsonSchema = Readonly<Record<string, unknown>>

type Draft = 'draft-2020-12' | 'draft-07'

/** The part of standardschema.dev/json-schema that is used here, and the methods that zod and arktype had before. */
interface WithJsonSchema {
  readonly '~standard'?: { readonly jsonSchema?: { input(options: { readonly target: Draft }): JsonSchema } }
  toJSONSchema?(): JsonSchema
  toJsonSchema?(): JsonSchema
}

/**
 * The JSON Schema of what a Standard Schema takes; null if its library does not give it. Throws the error of the
 * library for a schema that JSON Schema cannot express.
 */
export function jsonSchemaOf(schema: object, target: Draft): JsonSchema | null {
  const given = schema as WithJsonSchema
  return (
    given['~standard']?.jsonSchema?.input({ target }) ??
    given.toJSONSchema?.() ??
    given.toJsonSchema?.() ??
    null
  )
}

/** The schemas of an agent's inputs and outputs; null if unknown. */
export interface AgentSchemas {
  readonly input: JsonSchema | null
  readonly output: JsonSchema | null
  readonly state: JsonSchema | null
  /**
   * The schema of both `config.configurable` and the runtime context, which LangGraph.js does not
   * distinguish.
   */
  readonly config: JsonSchema | null
}

/** A graph as nodes and edges, in the JSON format of LangGraph's `getGraph`. */
export interface AgentDrawing {
  readonly nodes: readonly {
    readonly id: string | number
    readonly type: string
    readonly data?: unknown
    readonly metadata?: Readonly<Record<string, unknown>> | undefined
  }[]
  readonly edges: readonly {
    readonly source: string
    readonly target: string
    readonly data?: string | undefined
    readonly conditional?: boolean | undefined
  }[]
}

/** The public description of an agent. */
export interface AgentDescription {
  /** `xray` replaces nodes with the nodes of their subgraphs: at all levels, or down to the given level. */
  drawing(options: { readonly xray: boolean | number }): Promise<AgentDrawing>
  schemas(): Promise<AgentSchemas>
  /** The schemas of subgraphs by namespace, such as `parent|child`. `recurse` includes nested subgraphs. */
  subgraphs(options: {
    readonly namespace?: string | undefined
    readonly recurse: boolean
  }): Promise<Readonly<Record<string, AgentSchemas>>>
}

/** The description of an agent that has no graph: one step stands for all of it. */
export const oneStep = (name: string, input: JsonSchema | null = null): AgentDescription => ({
  drawing: async () => ({
    nodes: [
      { id: '__start__', type: 'schema', data: '__start__' },
      { id: name, type: 'runnable', data: { id: [name], name } },
      { id: '__end__', type: 'schema', data: '__end__' },
    ],
    edges: [
      { source: '__start__', target: name },
      { source: name, target: '__end__' },
    ],
  }),
  schemas: async () => ({ input, output: null, state: null, config: null }),
  subgraphs: async () => ({}),
})

/** Whether a drawing is that of `oneStep`. The nodes of graphs have ids of two parts or more, which name a class. */
export const isOneStep = ({ nodes }: AgentDrawing): boolean =>
  nodes.length === 3 &&
  nodes.some(({ id, data }) => isNamed(data) && data.id.length === 1 && data.id[0] === id)

const isNamed = (data: unknown): data is { readonly id: readonly unknown[] } =>
  typeof data === 'object' && data !== null && 'id' in data && Array.isArray(data.id)

/** The assistant ids of a server for an error message: `"agent", "helper"`. */
export const agentIds = (agents: ReadonlyMap<string, unknown>): string =>
  [...agents.keys()].map((id) => JSON.stringify(id)).join(', ')
