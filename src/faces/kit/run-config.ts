import { type AssistantRecord, mergeSettings, type RunSettings } from '../../engine/assistants/index.ts'
import { type Limits, RunError, type RunRequest, type StoredConfig } from '../../engine/index.ts'

/** The config of a run as clients send it. */
export interface RunConfigWire {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
  readonly recursion_limit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Keys that the server sets, or that address a checkpoint: `forkPoint` reads `checkpoint_id`. */
const SERVER_KEYS = new Set(['thread_id', 'run_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** Keys that begin with `__` are internal to the engine. */
const isFree = (key: string): boolean =>
  !key.startsWith('__') && !key.startsWith('langgraph_auth') && !SERVER_KEYS.has(key)

/**
 * LangChain copies all metadata and `configurable` for each of their keys, at each step: 1,000 keys block a
 * process for seconds.
 */
const MAX_KEYS = 256

const freeKeys = (given: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => isFree(key)))

/** Throws `RunError` for more keys than LangChain copies in little time. */
function requireFew(...all: readonly (Readonly<Record<string, unknown>> | undefined)[]): void {
  if (all.reduce((sum, one) => sum + Object.keys(one ?? {}).length, 0) <= MAX_KEYS) return
  throw new RunError(
    'invalid_argument',
    `metadata, config.metadata and config.configurable: expected at most ${MAX_KEYS} keys together, with those of the thread and the assistant. Put more values below one key, or into the input.`,
  )
}

/**
 * The config to store with a run, reduced to the keys that a client may set. This includes the metadata,
 * because tracers read ids and users from them. Throws `RunError` for more than 256 keys.
 */
export function runConfig(
  config: RunConfigWire | undefined,
  metadata: Readonly<Record<string, unknown>> | undefined,
  { configurable: allowed }: Pick<Limits, 'configurable'>,
): StoredConfig {
  requireFew(config?.configurable, { ...config?.metadata, ...metadata })
  const configurable = Object.entries(freeKeys(config?.configurable))
  return {
    configurable: Object.fromEntries(configurable.filter(([key]) => allowed?.includes(key) ?? true)),
    recursionLimit: config?.recursion_limit,
    tags: config?.tags,
    metadata: freeKeys({ ...config?.metadata, ...metadata }),
  }
}

/**
 * The config of a run, merged from its assistant, its thread and its request. Later arguments take
 * precedence.
 */
export function runSettings(
  limits: Pick<Limits, 'configurable'>,
  assistant: (RunSettings & Pick<AssistantRecord, 'assistantId' | 'isSystem'>) | undefined,
  ...all: readonly (RunSettings | undefined)[]
): { readonly config: StoredConfig } & Pick<RunRequest, 'context' | 'settingsFrom'> {
  const { config, context, metadata } = mergeSettings(assistant, ...all)
  return {
    config: runConfig(config, metadata, limits),
    ...(Object.keys(context).length > 0 && { context }),
    ...(assistant && !assistant.isSystem && { settingsFrom: assistant.assistantId }),
  }
}

/** The checkpoint that a client forks from: the SDK sends it in the config. */
export function forkPoint(config: RunConfigWire | undefined): string | undefined {
  const id = config?.configurable?.checkpoint_id
  return typeof id === 'string' && id !== '' ? id : undefined
}
