import { type AgentDescription, oneStep } from '../../agents/description.ts'
import { isUuid } from '../../core/ids.ts'
import { passes } from '../../core/metadata-filter.ts'
import { accessOf, type Principal } from '../../core/principal.ts'
import { internalsOf, RunError, type ServedEngine } from '../index.ts'
import { ASSISTANTS, type AssistantRecord, placeOf, recordOf, type StoredAssistant } from './record.ts'
import { graphOfId, idOfGraph, systemAssistant } from './system.ts'

/** The agent with a name, which may be an alias or leave the choice to the server. */
export function graphNamed(engine: ServedEngine, name: string): string | undefined {
  const { aliases, defaultAgent } = internalsOf(engine)
  const graphId = isUnnamed(engine, name) ? defaultAgent : (aliases.get(name) ?? name)
  return graphId !== undefined && engine.agents.has(graphId) ? graphId : undefined
}

/**
 * The resource name of an assistant for `authorize`: its graph for the name or the system assistant of a graph,
 * otherwise the id as sent.
 */
export const resourceNamed = async (engine: ServedEngine, idOrName: string): Promise<string> =>
  graphNamed(engine, idOrName) ?? (await graphOfId(engine, idOrName.toLowerCase())) ?? idOrName

/**
 * Finds the assistant that a principal names: by the UUID of an assistant, or by the name or alias of a
 * graph, which refers to its system assistant. Undefined if it does not exist, or if the principal's filter
 * hides it and it is not a system assistant.
 */
export const findAssistant = async (
  engine: ServedEngine,
  principal: Principal | null | undefined,
  idOrName: string,
): Promise<AssistantRecord | undefined> => (await readAssistant(engine, principal, idOrName))?.record

/**
 * Like `findAssistant`, for reading or changing it. Throws `no_such_assistant`, also if the filter hides a
 * system assistant.
 */
export async function requireAssistant(
  engine: ServedEngine,
  principal: Principal | null | undefined,
  idOrName: string,
): Promise<AssistantRecord> {
  const found = await findAssistant(engine, principal, idOrName)
  if (found && isShown(principal, found)) return found
  throw noSuchAssistant()
}

/**
 * Whether the principal's filter allows an assistant. A principal that may run a graph may run its system
 * assistant even if it is hidden.
 */
export const isShown = (
  principal: Principal | null | undefined,
  { metadata }: Pick<AssistantRecord, 'metadata'>,
): boolean => passes(accessOf(principal).metadataFilter, metadata)

/** Clients check for this text. */
export const noSuchAssistant = (): RunError => new RunError('no_such_assistant', 'Assistant not found')

/** An assistant with the version of its document. An unchanged system assistant has no document. */
export async function readAssistant(
  engine: ServedEngine,
  principal: Principal | null | undefined,
  idOrName: string,
): Promise<{ readonly record: StoredAssistant; readonly docVersion?: number } | undefined> {
  const { owner, metadataFilter } = accessOf(principal)
  const named = graphNamed(engine, idOrName)
  if (named === undefined && !isUuid(idOrName)) return undefined
  const id = named === undefined ? idOrName.toLowerCase() : await idOfGraph(engine, named)
  const doc = await internalsOf(engine).store.get(placeOf(owner, id), ASSISTANTS, id)
  if (doc) {
    const record = recordOf(doc)
    const isThere = record.isSystem
      ? engine.agents.has(record.graphId)
      : passes(metadataFilter, record.metadata)
    return isThere ? { record, docVersion: doc.version } : undefined
  }
  const graphId = named ?? (await graphOfId(engine, id))
  return graphId === undefined ? undefined : { record: await systemAssistant(engine, owner, graphId) }
}

/** The assistant id that `@langchain/react` and its siblings send if an app sets none: the server chooses. */
const UNNAMED = '_'

/** Whether an id leaves the choice to the server. An agent may still be registered under it. */
export const isUnnamed = ({ agents }: Pick<ServedEngine, 'agents'>, id: string): boolean =>
  id === UNNAMED && !agents.has(UNNAMED)

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
