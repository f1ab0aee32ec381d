import type { StoredConfig } from '../runs/index.ts'

/** A run's config as clients send it. */
export interface RunConfigWire {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
  readonly recursion_limit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Keys that the server sets, or that address a checkpoint: `forkPoint` reads `checkpoint_id`. */
const SERVER_KEYS = new Set(['thread_id', 'run_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** The stored config of a run, reduced to the keys that a client may set. Keys beginning with `__` are the engine's internals. */
export function runConfig(
  config: RunConfigWire | undefined,
  metadata: Readonly<Record<string, unknown>> | undefined,
): StoredConfig {
  const configurable = Object.fromEntries(
    Object.entries(config?.configurable ?? {}).filter(
      ([key]) => !key.startsWith('__') && !key.startsWith('langgraph_auth') && !SERVER_KEYS.has(key),
    ),
  )
  return {
    configurable,
    recursionLimit: config?.recursion_limit,
    tags: config?.tags,
    metadata: { ...config?.metadata, ...metadata },
  }
}

/** The checkpoint a client forks from: the SDK puts it into the config. */
export function forkPoint(config: RunConfigWire | undefined): string | undefined {
  const id = config?.configurable?.checkpoint_id
  return typeof id === 'string' && id !== '' ? id : undefined
}
