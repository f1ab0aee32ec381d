import type { Principal } from '../../../core/principal.ts'
import type { Limits, StoredConfig } from '../../../engine/index.ts'
import type { Fields } from '../../../messages/record.ts'
import { type RunConfigWire, runConfig } from '../../kit/run-config.ts'
import type { RunAssistant } from './assistant.ts'
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

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

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
