import { AgentwireError } from '../errors.ts'
import { DEADLINE_MS, type DurableStorage, type DurableStorageOptions } from './durable.ts'
import { fromClient, fromUrl, type RedisClient } from './redis/client.ts'
import { createDatabase } from './redis/database.ts'
import { createDirectory } from './redis/directory.ts'
import { createDoorbell } from './redis/doorbell.ts'
import { createKeys } from './redis/keys.ts'
import type { Connections } from './redis/line.ts'
import { prepare } from './redis/prepare.ts'
import { reportOf } from './redis/report.ts'
import { createTables } from './redis/saver-tables.ts'
import { createStore } from './redis/store.ts'
import { createSaver } from './saver.ts'

export type { DurableStorage, DurableStorageOptions } from './durable.ts'
export type { RedisClient } from './redis/client.ts'
export type { IoredisClient } from './redis/ioredis.ts'
export type { NodeRedisClient } from './redis/node-redis.ts'
export type { RetentionOptions } from './retention.ts'
export type { DurableCheckpointer } from './saver.ts'
export type { StorageCounts, StorageReport } from './stats.ts'

export interface RedisStorageOptions extends DurableStorageOptions {
  /**
   * A client of `ioredis` or of `redis` (node-redis), of one server or of a cluster. It stays yours: connections are duplicated from it, and
   * `close` leaves it open. One of `client` and `url` is needed.
   */
  readonly client?: RedisClient | undefined
  /** `redis://…` or `rediss://…`, opened with the package `ioredis` or else `redis`, one of which must be installed. */
  readonly url?: string | undefined
}

const PREFIX = 'agentwire:'

/**
 * A store and a saver in one Redis, 6.2 or newer, without modules. Two connections are opened, one of which subscribes. How much
 * survives the end of Redis is up to its settings: nothing without `appendonly yes`, of which `setup` warns; with it all but the last two
 * seconds at most, and all with `appendfsync always`. `maxmemory-policy` must be `noeviction`.
 *
 * Every call throws `UnavailableError` when Redis does not answer within the deadline.
 */
export function redisStorage(options: RedisStorageOptions): DurableStorage {
  const { client, url, prefix = PREFIX, deadlineMs = DEADLINE_MS, serde } = options
  if ((client === undefined) === (url === undefined)) {
    throw new AgentwireError('invalid_argument', 'Give redisStorage either a client or a url.')
  }
  const given = client && fromClient(client, deadlineMs)
  const keys = createKeys(given?.keyPrefix ?? '', prefix)
  let connecting: Promise<Connections> | undefined
  const connections = () => (connecting ??= fromUrl(url!, deadlineMs))
  const database = createDatabase({
    keys,
    isCluster: given?.isCluster ?? false,
    deadlineMs,
    createLine: async (receive) => (given ?? (await connections())).createLine(receive),
    prepare: (send) => prepare(send, keys),
  })
  const directory = createDirectory(database)
  const doorbell = createDoorbell(database)
  let closing: Promise<void> | undefined
  const end = async () => {
    await Promise.all([database.close(), doorbell.close()])
  }
  const close = () => (closing ??= end())
  const store = createStore(database, directory, doorbell, options, close)
  return {
    store,
    checkpointer: createSaver({
      name: 'redisCheckpointer',
      database,
      tables: createTables(database, directory, store.assertFence),
      serde,
      close,
    }),
    setup: () => database.setup(),
    report: () => reportOf(database),
    close,
  }
}
