import type { CheckpointConfig, CheckpointTuple } from './checkpointer.ts'

/** Values that their creators have declared to be plain JSON, frozen at every depth. */
const immutable = new WeakSet<object>()

/**
 * Declares a value to be plain JSON, frozen at every depth. A saver in memory then stores it without a copy,
 * and returns it without a copy to callers that only read. So a long list costs only its new items.
 */
export function asImmutable<T extends object>(value: T): T {
  immutable.add(value)
  return value
}

export const isImmutable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && immutable.has(value)

const READ_ONLY = /* @__PURE__ */ Symbol('read only')

/**
 * The config of a `getTuple` whose caller does not change the result. The flag is in the config because a
 * saver's views pass it on, and other savers ignore it.
 */
export const readOnly = (config: CheckpointConfig): CheckpointConfig =>
  ({ ...config, [READ_ONLY]: true }) as CheckpointConfig

export const isReadOnly = (config: CheckpointConfig): boolean => READ_ONLY in config

/**
 * Whether a result read with `readOnly` may be returned to the caller with this config, which may change it.
 */
export const canReuseTuple = (config: CheckpointConfig, tuple: CheckpointTuple | undefined): boolean =>
  isReadOnly(config) || !Object.values(tuple?.checkpoint.channel_values ?? {}).some(isImmutable)
