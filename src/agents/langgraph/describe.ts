import type { AgentDescription, AgentDrawing, AgentSchemas, JsonSchema } from '../description.ts'
import type { Graph } from './graph.ts'

/** The description of a graph at run time. The types of an `Annotation` only exist in TypeScript. */
export const describeGraph = (graph: Graph): AgentDescription => ({
  drawing: async ({ xray }) => (await graph.getGraphAsync({ xray })).toJSON() as AgentDrawing,
  schemas: async () => schemasOf(graph, await readSchemas()),
  async subgraphs({ namespace, recurse }) {
    const read = await readSchemas()
    const found: [string, AgentSchemas][] = []
    for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse))
      found.push([name, schemasOf(subgraph, read)])
    return Object.fromEntries(found)
  },
})

/** A dynamic import, so that single-file bundles load LangGraph's schemas only to describe a graph. */
const readSchemas = () => import('@langchain/langgraph/zod/schema')

function schemasOf(graph: Graph, of: Awaited<ReturnType<typeof readSchemas>>): AgentSchemas {
  const state = graph.builder?._schemaRuntimeDefinition
  return {
    input: known(() => of.getInputTypeSchema(graph)),
    output: known(() => of.getOutputTypeSchema(graph)),
    // A `StateSchema` produces its own JSON Schema. For zod schemas, LangGraph Platform shows what nodes may
    // write.
    state: known(() => state?.getJsonSchema?.() ?? of.getUpdateTypeSchema(graph)),
    config: known(() => of.getConfigTypeSchema(graph)),
  }
}

/**
 * LangChain throws for a zod schema that JSON Schema cannot express. Such a schema is reported as unknown.
 */
function known(read: () => unknown): JsonSchema | null {
  try {
    return (read() as JsonSchema | undefined) ?? null
  } catch {
    return null
  }
}
