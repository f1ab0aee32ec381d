import { agentIds } from '../../../agents/agent-ids.ts'
import { HttpError } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { idOfGraph } from '../../../engine/assistants/index.ts'
import { type AgentEngine, internalsOf } from '../../../engine/index.ts'
import type { Fields } from '../../../messages/record.ts'
import { namedAssistant } from '../../kit/assistants.ts'

/** The assistant settings that a run uses. */
export interface RunAssistant {
  /** A UUID. */
  readonly assistantId: string
  /** The id of the agent that runs. */
  readonly graphId: string
  readonly config: Fields
  readonly context: Fields
  readonly metadata: Fields
  /** Whether a client made it. Otherwise it is the system assistant of the graph. */
  readonly isOwn: boolean
}

/**
 * The assistant that a request names, or the thread's if the request names none. A graph name is resolved to
 * its system assistant without a lookup. Throws 404.
 */
export async function assistantOf(
  engine: AgentEngine,
  principal: Principal | null,
  named: string,
  ofThread: string | null,
): Promise<RunAssistant> {
  const { graphId: chosen, assistant } = await namedAssistant(engine, principal, named)
  const graphId = chosen ?? ofThread ?? internalsOf(engine).defaultAgent
  if (graphId === undefined || !engine.agents.has(graphId)) throw unknownAssistant(engine, named)
  if (assistant) return { ...assistant, isOwn: !assistant.isSystem }
  const assistantId = await idOfGraph(engine, graphId)
  return { assistantId, graphId, config: {}, context: {}, metadata: {}, isOwn: false }
}

/** Clients search for this sentence. */
export function unknownAssistant({ agents }: Pick<AgentEngine, 'agents'>, named: string): HttpError {
  const known = agentIds(agents)
  return new HttpError(
    404,
    'not_found',
    `No assistant found for ${JSON.stringify(named)}. Make sure the assistant ID is for a valid assistant or a valid graph ID. This server has: ${known}.`,
  )
}
