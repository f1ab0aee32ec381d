import { mergeSettings, type RunSettings } from '../assistants/index.ts'
import { type Limits, RunError, type RunRequest, type StoredConfig } from '../runs/index.ts'

/** A run's config as clients send it. */
export interface RunConfigWire {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
  readonly recursion_limit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Keys that the server sets, or that address a checkpoint: `forkPoint` reads `checkpoint_id`. */
const SERVER_KEYS = new Set(['thread_id', 'run_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** Keys beginning with `__` are the engine's internals. */
const isFree = (key: string): boolean =>
  !key.startsWith('__') && !key.startsWith('langgraph_auth') && !SERVER_KEYS.has(key)

/** LangChain copies metadata key by key, and each time all of it: 15,000 keys stop a process for minutes. */
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
 * The stored config of a run, reduced to the keys that a client may set, in the metadata as well: tracers read ids and users there. Throws
 * `RunError` for more than 1,000 keys.
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

/** What a run is configured with, of what its assistant, its thread and its request say. Those further right win. */
export function runSettings(
  limits: Pick<Limits, 'configurable'>,
  ...all: readonly (RunSettings | undefined)[]
): { readonly config: StoredConfig; readonly context?: RunRequest['context'] } {
  const { config, context, metadata } = mergeSettings(...all)
  return { config: runConfig(config, metadata, limits), ...(Object.keys(context).length > 0 && { context }) }
}

/** The checkpoint a client forks from: the SDK puts it into the config. */
export function forkPoint(config: RunConfigWire | undefined): string | undefined {
  const id = config?.configurable?.checkpoint_id
  return typeof id === 'string' && id !== '' ? id : undefined
}
