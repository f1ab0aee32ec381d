import { type AssistantRecord, mergeSettings, type RunSettings } from '../assistants/index.ts'
import { type Limits, RunError, type RunRequest, type StoredConfig } from '../runs/index.ts'

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

/** LangChain copies all metadata for each key, so 15,000 keys block a process for minutes. */
const MAX_KEYS = 1_000

function freeKeys(
  name: string,
  given: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const entries = Object.entries(given ?? {})
  if (entries.length > MAX_KEYS)
    throw new RunError('invalid_argument', `${name}: expected at most ${MAX_KEYS} keys.`)
  return Object.fromEntries(entries.filter(([key]) => isFree(key)))
}

/**
 * The config to store with a run, reduced to the keys that a client may set. This includes the metadata,
 * because tracers read ids and users from them. Throws `RunError` for more than 1,000 keys.
 */
export function runConfig(
  config: RunConfigWire | undefined,
  metadata: Readonly<Record<string, unknown>> | undefined,
  { configurable: allowed }: Pick<Limits, 'configurable'>,
): StoredConfig {
  const configurable = Object.entries(freeKeys('config.configurable', config?.configurable))
  return {
    configurable: Object.fromEntries(configurable.filter(([key]) => allowed?.includes(key) ?? true)),
    recursionLimit: config?.recursion_limit,
    tags: config?.tags,
    metadata: { ...freeKeys('config.metadata', config?.metadata), ...freeKeys('metadata', metadata) },
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
