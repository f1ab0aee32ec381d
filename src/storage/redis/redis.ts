import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { DurableStorage, DurableStorageOptions } from '../durable.ts'
import { createDurableStorage, DEADLINE_MS, DURABLE_OPTIONS } from '../durable-storage.ts'
import { fromClient, fromUrl, type RedisClient } from './clients.ts'
import type { Connections } from './connection.ts'
import { createDatabase } from './database.ts'
import { createKeys } from './keys.ts'
import { prepare, reportOf } from './report.ts'
import { createTables } from './saver/tables.ts'
import { createDirectory } from './store/directory.ts'
import { createNotifier } from './store/notifier.ts'
import { createStore } from './store/store.ts'

export type * from '../durable.ts'
export type { IoredisClient, NodeRedisClient, RedisClient } from './clients.ts'

export interface RedisStorageOptions extends DurableStorageOptions {
  /**
   * A client of `ioredis` or `redis` (node-redis), for one server or a cluster. Connections are duplicated
   * from it, and `close` leaves it open. Either `client` or `url` is required.
   */
  readonly client?: RedisClient | undefined
  /** `redis://…` or `rediss://…`, opened with the package `ioredis`, otherwise with `redis`. */
  readonly url?: string | undefined
}

const REDIS_OPTIONS: OptionTable<Omit<RedisStorageOptions, keyof DurableStorageOptions>> = {
  client: 'object',
  url: 'string',
}

const PREFIX = 'agentwire:'
const COALESCE_MS = 10

/**
 * A store and a saver in one Redis, version 6.2 or newer, without modules. It uses two connections, one of
 * which subscribes. Data that survives a Redis restart: nothing without `appendonly yes`, and `setup` warns
 * about that; with it, all but at most the last two seconds; everything with `appendfsync always`.
 * `maxmemory-policy` must be `noeviction`.
 *
 * Every call throws `UnavailableError` if Redis does not respond within `deadlineMs`.
 */
export function redisStorage(options: RedisStorageOptions): DurableStorage {
  checkOptions('redisStorage', options, DURABLE_OPTIONS, REDIS_OPTIONS)
  const { client, url, prefix = PREFIX, deadlineMs = DEADLINE_MS, serde } = options
  if ((client === undefined) === (url === undefined)) {
    throw new AgentwireError('invalid_argument', 'Pass redisStorage either a client or a url.')
  }
  const given = client && fromClient(client, deadlineMs)
  const keys = createKeys(given?.keyPrefix ?? '', prefix)
  let connecting: Promise<Connections> | undefined
  const connections = () => (connecting ??= fromUrl(url!, deadlineMs))
  const database = createDatabase({
    keys,
    isCluster: given?.isCluster ?? false,
    deadlineMs,
    createConnection: async (receive) => (given ?? (await connections())).createConnection(receive),
    prepare: (send) => prepare(send, keys),
  })
  const directory = createDirectory(database)
  const notifier = createNotifier(database)
  const calls = createStore(database, directory, notifier, options)
  return createDurableStorage({
    name: 'redis',
    coalesceMs: COALESCE_MS,
    database,
    notifier,
    calls,
    tables: createTables(database, directory, calls.inspect),
    serde,
    report: () => reportOf(database),
    async close() {
      await Promise.all([database.close(), notifier.close()])
    },
  })
}
