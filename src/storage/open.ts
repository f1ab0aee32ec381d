import { AgentwireError } from '../core/errors.ts'
import { checkOptions, type OptionTable } from '../core/options.ts'
import type { Checkpointer } from './checkpointer/checkpointer.ts'
import type { DurableStorage, DurableStorageOptions } from './durable.ts'
import { assertReadable, schemeOf } from './storage-url.ts'

export type * from './checkpointer/checkpointer.ts'
export type { DeltaHistory, PendingWrite } from './checkpointer/delta-history.ts'
export type { CheckpointSaver } from './checkpointer/saver.ts'
export type { Serde } from './checkpointer/serde.ts'
export type { MemoryCheckpointer } from './memory/checkpointer.ts'
export type { MemoryStorage } from './memory/storage.ts'
export type { MemoryStoreOptions } from './memory/store.ts'
export { withoutPassword } from './storage-url.ts'
export type * from './store/report.ts'
export type * from './store/store.ts'

/** Options that all backends have. For others, such as your own client, call the backend's function. */
export type OpenStorageOptions = Pick<DurableStorageOptions, 'prefix' | 'deadlineMs' | 'serde'>

const OPEN_OPTIONS: OptionTable<OpenStorageOptions> = {
  prefix: 'string',
  deadlineMs: 'number',
  serde: 'object',
}

/** A store and a saver over one database of any kind. In memory, `serde` has no effect. */
export interface OpenedStorage extends Omit<DurableStorage, 'checkpointer'> {
  readonly checkpointer: Checkpointer
}

type Open = (options: OpenStorageOptions & { readonly url: string }) => Promise<OpenedStorage>

/** A backend and its client are loaded when a URL for it is opened. */
const postgres: Open = async (options) => (await import('./postgres/postgres.ts')).postgresStorage(options)
const redis: Open = async (options) => (await import('./redis/redis.ts')).redisStorage(options)
const BACKENDS: ReadonlyMap<string, Open> = new Map<string, Open>([
  ['file', async (options) => (await import('./sqlite/sqlite.ts')).sqliteStorage(options)],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['redis', redis],
  ['rediss', redis],
  ['memory', async () => (await import('./memory/storage.ts')).memoryStorage()],
])
const FORMS = 'file:… or a path, postgres://…, redis://…, memory:'

/**
 * Opens a store and a saver for a database URL, for example from an environment variable: `file:…` or a path
 * (SQLite), `postgres://…`, `redis://…`, `rediss://…`, or `memory:`.
 *
 * It does not connect; `setup` fails if the database cannot be reached. Throws `AgentwireError`
 * `invalid_argument` for other schemes and invalid URLs. This library's errors never contain the URL's
 * password.
 */
export async function openStorage(url: string, options: OpenStorageOptions = {}): Promise<OpenedStorage> {
  checkOptions('openStorage', options, OPEN_OPTIONS)
  // Callers without types may pass an unset environment variable.
  const scheme = schemeOf(url ?? '')
  const open = BACKENDS.get(scheme)
  if (open && url?.trim()) {
    if (scheme !== 'file') assertReadable(url)
    return open({ ...options, url })
  }
  const problem = open ? 'The URL of the storage is empty' : `Unsupported storage URL scheme ${scheme}:`
  throw new AgentwireError('invalid_argument', `${problem}. Supported: ${FORMS}.`)
}
