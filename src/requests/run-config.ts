import { type Limits, RunError, type StoredConfig } from '../runs/index.ts'

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

/** The checkpoint a client forks from: the SDK puts it into the config. */
export function forkPoint(config: RunConfigWire | undefined): string | undefined {
  const id = config?.configurable?.checkpoint_id
  return typeof id === 'string' && id !== '' ? id : undefined
}
