import { AgentwireError } from '../errors.ts'
import { type Connections, fromClient, fromUrl, type Receive, type RedisClient } from './redis/client.ts'
import { createDatabase } from './redis/database.ts'
import { createDirectory } from './redis/directory.ts'
import { createDoorbell } from './redis/doorbell.ts'
import { createKeys } from './redis/keys.ts'
import { durability, prepare, type RedisDurability } from './redis/prepare.ts'
import { reportOf } from './redis/report.ts'
import { createTables } from './redis/saver-tables.ts'
import { createStore } from './redis/store.ts'
import { createSaver, type DurableCheckpointer } from './saver.ts'
import type { Serde } from './serde.ts'
import type { StorageReport } from './stats.ts'
import type { Store } from './store.ts'

export type { RedisClient } from './redis/client.ts'
export type { IoredisClient } from './redis/ioredis.ts'
export type { NodeRedisClient } from './redis/node-redis.ts'
export type { RedisDurability } from './redis/prepare.ts'
export type { DurableCheckpointer } from './saver.ts'
export type { StorageCounts, StorageReport } from './stats.ts'

export interface RedisStorageOptions {
  /**
   * A client of `ioredis` or of `redis` (node-redis), of one server or of a cluster. It stays yours: connections are duplicated from it, and
   * `close` leaves it open. One of `client` and `url` is needed.
   */
  readonly client?: RedisClient | undefined
  /** `redis://…` or `rediss://…`, opened with the package `ioredis` or else `redis`, one of which must be installed. */
  readonly url?: string | undefined
  /** What all keys and channels begin with. Default `agentwire:`. */
  readonly prefix?: string | undefined
  /** How long one call may take, connecting included, in milliseconds. Default 5,000. */
  readonly deadlineMs?: number | undefined
  /** How channel values and metadata become bytes. Default: `jsonSerde`; under `langgraph()` one that revives LangChain objects too. */
  readonly serde?: Serde | undefined
}

export interface RedisStorage {
  readonly store: Store
  readonly checkpointer: DurableCheckpointer
  /** Looks whether this Redis will do, and warns where it forgets. The first call to the store or the saver does it too. */
  setup(): Promise<void>
  /** What it is and holds. Sets nothing up. */
  report(): Promise<StorageReport>
  /** What is known of how long this Redis keeps what it was told. */
  durability(): Promise<RedisDurability>
  /** Ends store and saver, and the connections they opened. */
  close(): Promise<void>
}

const DEADLINE_MS = 5_000

/**
 * A store and a saver in one Redis, 6.2 or newer, without modules. Two connections are opened, one of which subscribes. How much
 * survives the end of Redis is up to its settings: nothing without `appendonly yes`, with it all but the last two seconds at most, and all with
 * `appendfsync always`.
 *
 * Every call throws `UnavailableError` when Redis does not answer within the deadline.
 */
export function redisStorage(options: RedisStorageOptions): RedisStorage {
  const { client, url, prefix = 'agentwire:', deadlineMs = DEADLINE_MS, serde } = options
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
    createLine: async (receive?: Receive) => (given ?? (await connections())).createLine(receive),
    prepare: (send) => prepare(send, keys),
  })
  const directory = createDirectory(database)
  const doorbell = createDoorbell(database)
  let closing: Promise<void> | undefined
  const end = async () => {
    await Promise.all([database.close(), doorbell.close()])
  }
  const close = () => (closing ??= end())
  const store = createStore(database, directory, doorbell, close)
  const { assertFence } = store
  return {
    store,
    checkpointer: createSaver({
      name: 'redisCheckpointer',
      database,
      tables: createTables(database, directory, assertFence),
      serde,
      close,
    }),
    setup: () => database.setup(),
    report: () => reportOf(database),
    durability: () => durability(database.send),
    close,
  }
}
