import type { StoredConfig } from '../runs/index.ts'

/** What a client may say of a run's config, as it comes over the wire. */
export interface RunConfigWire {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
  readonly recursion_limit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Keys the server decides, or that address a checkpoint: `checkpoint_id` is read before (see `forkPoint`). */
const SERVER_KEYS = new Set(['thread_id', 'run_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** What a client may set of the config that a run is stored with. Keys beginning with `__` are the engine's internals. */
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
