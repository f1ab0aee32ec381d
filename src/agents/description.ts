/** JSON Schema of any draft. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The shapes of what an agent takes and gives, each null where it is not known. */
export interface AgentSchemas {
  readonly input: JsonSchema | null
  readonly output: JsonSchema | null
  readonly state: JsonSchema | null
  /** Of both `config.configurable` and the runtime context, which LangGraph.js does not tell apart. */
  readonly config: JsonSchema | null
}

export interface AgentDrawing {
  readonly nodes: readonly { readonly id: string | number; readonly type: string; readonly data?: unknown }[]
  readonly edges: readonly {
    readonly source: string
    readonly target: string
    readonly data?: string | undefined
    readonly conditional?: boolean | undefined
  }[]
}

/** How an agent looks from outside. */
export interface AgentDescription {
  /** `xray` replaces nodes by the nodes of their subgraphs: at all levels, or down to the given level. */
  drawing(options: { readonly xray: boolean | number }): Promise<AgentDrawing>
  schemas(): Promise<AgentSchemas>
  /** The schemas of subgraphs by namespace, such as `parent|child`. `recurse` adds those within them. */
  subgraphs(options: {
    readonly namespace?: string | undefined
    readonly recurse: boolean
  }): Promise<Readonly<Record<string, AgentSchemas>>>
}

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
