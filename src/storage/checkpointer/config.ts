import { AgentwireError } from '../../core/errors.ts'
import type { ChannelVersion, Checkpoint, CheckpointConfig, CheckpointTuple } from './checkpointer.ts'

/** Each task has one write to each of these channels, at a fixed index. The last write wins. */
const WRITE_INDEXES: ReadonlyMap<string, number> = new Map([
  ['__error__', -1],
  ['__scheduled__', -2],
  ['__interrupt__', -3],
  ['__resume__', -4],
])

export function writeIndexOf(channel: string, position: number): number {
  return WRITE_INDEXES.get(channel) ?? position
}

export interface CheckpointAddress {
  readonly threadId: string | undefined
  /** Undefined if the config names no namespace. That is not the root namespace `''`. */
  readonly namespace: string | undefined
  readonly checkpointId: string | undefined
}

/** Without a checkpoint id: the newest of the namespace. */
export interface SavedAt extends CheckpointAddress {
  readonly threadId: string
  readonly namespace: string
}

export interface CheckpointPlace extends SavedAt {
  readonly checkpointId: string
}

export function addressOf({ configurable = {} }: CheckpointConfig): CheckpointAddress {
  return {
    threadId: idOf(configurable.thread_id, 'thread_id'),
    namespace: idOf(configurable.checkpoint_ns, 'checkpoint_ns'),
    checkpointId: idOf(configurable.checkpoint_id, 'checkpoint_id') || undefined,
  }
}

function idOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw new AgentwireError('invalid_argument', `configurable.${name} must be a string.`)
}

export function throwMissing(name: string): never {
  const message = `A checkpointer needs configurable.${name}: pass it in the config.`
  throw new AgentwireError('invalid_argument', message)
}

export function configOf(threadId: string, namespace: string, checkpointId: string): CheckpointConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpointId } }
}

export function nextVersion(current: ChannelVersion | undefined): number {
  const version = current ?? 0
  if (typeof version === 'number') return version + 1
  throw new AgentwireError(
    'invalid_argument',
    'This saver counts channel versions with numbers, not strings.',
  )
}

export const TASKS = '__pregel_tasks'

/** Before format 4, a step's sends were stored with its parent's writes. */
export function addPendingSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions)
  checkpoint.channel_values[TASKS] = sends
  checkpoint.channel_versions[TASKS] =
    versions.length === 0 ? 1 : versions.reduce((a, b) => (isAbove(b, a) ? b : a))
}

function isAbove(a: ChannelVersion, b: ChannelVersion): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a > b : String(a).localeCompare(String(b)) > 0
}

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
