import { type AgentDescription, oneStep } from '../../agents/description.ts'
import type { Principal } from '../../core/principal.ts'
import { RunError, type ServedEngine } from '../index.ts'
import { requireAssistant } from './find.ts'

/**
 * The graph of an assistant, and how its agent describes it. Throws `no_such_assistant`, also if the server no
 * longer has the graph.
 */
export async function describeAssistant(
  engine: ServedEngine,
  principal: Principal | null | undefined,
  idOrName: string,
): Promise<{ readonly graphId: string; readonly description: AgentDescription }> {
  const { graphId, config } = await requireAssistant(engine, principal, idOrName)
  const agent = engine.agents.get(graphId)
  if (agent)
    return { graphId, description: (await agent.describe?.(config)) ?? oneStep(agent.name ?? graphId) }
  throw new RunError(
    'no_such_assistant',
    `This server no longer has the graph ${JSON.stringify(graphId)} of this assistant.`,
  )
}
