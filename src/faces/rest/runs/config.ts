import { agentIds } from '../../../agents/agent-ids.ts'
import { HttpError } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { idOfGraph } from '../../../engine/assistants/index.ts'
import { type AgentEngine, internalsOf, type Limits, type StoredConfig } from '../../../engine/index.ts'
import type { Fields } from '../../../messages/record.ts'
import { isRecord } from '../../../messages/record.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { type RunConfigWire, runConfig } from '../../kit/run-config.ts'
import type { RunCreate } from './wire.ts'

/** Headers that may contain a secret, which graphs and tracers must not see. */
const SECRET_HEADERS = new Set(['x-api-key', 'x-tenant-id', 'x-service-key'])

/** The headers that graphs can read, as on LangGraph's own servers. */
function headersOf(request: Request | undefined): Fields {
  const shown = [...(request?.headers ?? [])].filter(
    ([name]) => name === 'user-agent' || (name.startsWith('x-') && !SECRET_HEADERS.has(name)),
  )
  return Object.fromEntries(shown)
}

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})

export interface RunSettings {
  /** As clients see it. */
  readonly config: Fields
  readonly context: Fields
  readonly metadata: Fields
  /** As the engine uses it. */
  readonly stored: StoredConfig
}

/** A run's settings. For each key, the request overrides the thread, which overrides the assistant. */
export function settingsOf(
  { assistantId, graphId, ...assistant }: RunAssistant,
  thread: { readonly config?: Fields | undefined; readonly metadata: Fields } | undefined,
  body: RunCreate,
  { principal, request }: { readonly principal: Principal | null; readonly request?: Request | undefined },
  limits: Pick<Limits, 'configurable'>,
): RunSettings {
  const configs = [assistant.config, fieldsOf(thread?.config), body.config ?? {}]
  const configurable = Object.assign({}, ...configs.map((one) => fieldsOf((one as Fields).configurable)))
  const config: Fields = { ...Object.assign({}, ...configs), configurable }
  const context = { ...assistant.context, ...body.context }
  const ids = { graph_id: graphId, assistant_id: assistantId }
  // The thread has the ids of its last run, whose assistant may differ.
  const metadata = { ...assistant.metadata, ...thread?.metadata, ...ids, ...body.metadata }
  const given = {
    ...(config as RunConfigWire),
    configurable: { ...headersOf(request), ...configurable, ...ids },
  }
  const stored = runConfig(given, metadata, limits)
  return {
    config,
    context,
    metadata,
    stored: { ...stored, ...executionOptions(body), ...caller(stored, principal) },
  }
}

/** The engine adds the caller's identity. */
const caller = (
  { configurable }: StoredConfig,
  principal: Principal | null,
): Pick<StoredConfig, 'configurable'> => ({
  configurable: {
    ...configurable,
    ...(principal && { langgraph_auth_permissions: principal.permissions ?? [] }),
  },
})

/** Options for executing the run. */
function executionOptions(body: RunCreate): Partial<StoredConfig> {
  const { checkpoint, durability, checkpoint_during: during } = body
  return {
    interruptBefore: body.interrupt_before,
    interruptAfter: body.interrupt_after,
    durability: durability ?? (during === undefined ? undefined : during ? 'async' : 'exit'),
    checkpointNs: checkpoint?.checkpoint_ns || undefined,
    checkpointMap: checkpoint?.checkpoint_map as StoredConfig['checkpointMap'],
  }
}

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
