import * as schemasOfZod from '@langchain/langgraph/zod/schema'
import type { AgentDescription, AgentDrawing, AgentSchemas, JsonSchema } from '../description.ts'
import type { Graph } from './graph.ts'

/** What a graph says of itself at run time. The types of a graph whose state is an `Annotation` exist in TypeScript only. */
export const describeGraph = (graph: Graph): AgentDescription => ({
  drawing: async ({ xray }) => (await graph.getGraphAsync({ xray })).toJSON() as AgentDrawing,
  schemas: async () => schemasOf(graph),
  async subgraphs({ namespace, recurse }) {
    const found: [string, AgentSchemas][] = []
    for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse))
      found.push([name, schemasOf(subgraph)])
    return Object.fromEntries(found)
  },
})

function schemasOf(graph: Graph): AgentSchemas {
  const state = graph.builder?._schemaRuntimeDefinition
  return {
    input: known(() => schemasOfZod.getInputTypeSchema(graph)),
    output: known(() => schemasOfZod.getOutputTypeSchema(graph)),
    // A `StateSchema` writes its own schema. Of zod schemas the platform shows what nodes may write.
    state: known(() => state?.getJsonSchema?.() ?? schemasOfZod.getUpdateTypeSchema(graph)),
    config: known(() => schemasOfZod.getConfigTypeSchema(graph)),
  }
}

/** A schema of zod may hold what JSON Schema has no words for: LangChain throws then, and the shape is not known. */
function known(read: () => unknown): JsonSchema | null {
  try {
    return (read() as JsonSchema | undefined) ?? null
  } catch {
    return null
  }
}
