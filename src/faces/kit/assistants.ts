import type { Principal } from '../../core/http/index.ts'
import { isUuid } from '../../core/ids.ts'
import { type AssistantRecord, findAssistant, isShown, isUnnamed } from '../../engine/assistants/index.ts'
import { internalsOf, type ServedEngine } from '../../engine/index.ts'
import { ASSISTANT_KEYS, type Metadata } from './thread-metadata.ts'

/** The agent and assistant that a request's assistant id refers to. */
export interface NamedAssistant {
  /** The agent. Undefined if the request leaves the choice to the server. */
  readonly graphId: string | undefined
  /**
   * The assistant with the settings of the run. Absent if the request names a graph without defaults, which
   * needs no lookup.
   */
  readonly assistant?: AssistantRecord | undefined
}

/**
 * Finds the assistant that a request names: by an agent's name, an alias, or a UUID. The engine rejects an
 * unknown graph id.
 */
export async function namedAssistant(
  engine: ServedEngine,
  principal: Principal | null,
  assistantId: string | undefined,
): Promise<NamedAssistant> {
  if (assistantId === undefined || isUnnamed(engine, assistantId)) return { graphId: undefined }
  const graphId = agentNamed(engine, assistantId)
  const hasNone = graphId !== undefined && engine.agents.get(graphId)?.defaults === undefined
  if (hasNone || (graphId === undefined && !isUuid(assistantId))) return { graphId: graphId ?? assistantId }
  const assistant = await findAssistant(engine, principal, graphId ?? assistantId)
  return assistant ? { graphId: assistant.graphId, assistant } : { graphId: assistantId }
}

/**
 * Whether a principal can access the assistant that a request named. All principals can access system
 * assistants.
 */
export const reachesAssistant = (
  principal: Principal | null,
  { assistant }: Pick<NamedAssistant, 'assistant'>,
): boolean => !assistant || assistant.isSystem || isShown(principal, assistant)

const agentNamed = (engine: ServedEngine, name: string): string | undefined => {
  const id = internalsOf(engine).aliases.get(name) ?? name
  return engine.agents.has(id) ? id : undefined
}

/** The agent that metadata bind a new thread to. Undefined if they name no agent of this server. */
export async function boundGraph(
  engine: ServedEngine,
  principal: Principal | null,
  metadata: Metadata = {},
): Promise<string | undefined> {
  const names = ASSISTANT_KEYS.map((key) => metadata[key]).filter((name) => typeof name === 'string')
  const named = names.map((name) => agentNamed(engine, name)).find((id) => id !== undefined)
  const uuid = names.find(isUuid)
  if (named !== undefined || uuid === undefined) return named
  return (await findAssistant(engine, principal, uuid))?.graphId
}

/**
 * The assistant that a thread was created for or last ran with, if its metadata contain an assistant's UUID.
 */
export async function assistantOfThread(
  engine: ServedEngine,
  principal: Principal | null,
  { metadata, assistantId }: { readonly metadata: Metadata; readonly assistantId: string | null },
): Promise<AssistantRecord | undefined> {
  const { assistant_id: id } = metadata
  if (typeof id !== 'string' || !isUuid(id)) return undefined
  const assistant = await findAssistant(engine, principal, id)
  const isOfThread = assistantId === null || agentNamed(engine, assistantId) === assistant?.graphId
  return isOfThread ? assistant : undefined
}
