import { type AgentDrawing, isOneStep } from '../../agents/description.ts'
import { json } from '../../core/http/index.ts'
import { describeAssistant } from '../../engine/assistants/index.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import type { DevtoolsContext } from './context.ts'
import type { AgentGraph, GraphAnswer, InputAnswer } from './wire.ts'

/** `GET …/api/agents/{assistant_id}/graph`: with the nodes of all subgraphs. */
export async function getGraph({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { description } = await describeAssistant(engine, call.principal, call.params.assistant_id!)
  const drawing = await description.drawing({ xray: true })
  return json({ graph: isOneStep(drawing) ? null : presentGraph(drawing) } satisfies GraphAnswer)
}

/** `GET …/api/agents/{assistant_id}/input`: the schema of the agent's input. */
export async function getInput({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { description } = await describeAssistant(engine, call.principal, call.params.assistant_id!)
  const { input } = await description.schemas()
  return json({ schema: input } satisfies InputAnswer)
}

/** Omits the nodes' schemas and classes, which are larger than the rest. */
const presentGraph = ({ nodes, edges }: AgentDrawing): AgentGraph => ({
  nodes: nodes.map((node) => ({ id: String(node.id), tools: toolsOf(node) })),
  edges: edges.map(({ source, target, data, conditional = false }) => ({
    source,
    target,
    label: data ?? null,
    conditional,
  })),
})

/** LangChain's tool node has the names of its tools in its metadata. */
function toolsOf({ metadata }: AgentDrawing['nodes'][number]): readonly string[] {
  const names = metadata?.__tools
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}
