import type { CheckpointConfig, CheckpointTuple } from './checkpointer.ts'

/** Values that are plain JSON and frozen at every depth, as their makers have said. */
const immutable = new WeakSet<object>()

/**
 * Says that a value is plain JSON and frozen at every depth. A saver in memory then keeps it as it is, and
 * gives it as it is to those who only read, so that what a long list costs is what is new in it.
 */
export function asImmutable<T extends object>(value: T): T {
  immutable.add(value)
  return value
}

export const isImmutable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && immutable.has(value)

const READ_ONLY = /* @__PURE__ */ Symbol('read only')

/**
 * The config of a `getTuple` whose caller changes nothing of what it gets. It is said in the config because
 * that passes through the views of a saver, and savers of others ignore it.
 */
export const readOnly = (config: CheckpointConfig): CheckpointConfig =>
  ({ ...config, [READ_ONLY]: true }) as CheckpointConfig

export const isReadOnly = (config: CheckpointConfig): boolean => READ_ONLY in config

/** Whether what was read by `readOnly` may be given to the caller with this config, who may change it. */
export const mayHave = (config: CheckpointConfig, tuple: CheckpointTuple | undefined): boolean =>
  isReadOnly(config) || !Object.values(tuple?.checkpoint.channel_values ?? {}).some(isImmutable)
