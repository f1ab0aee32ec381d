import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { DurableStorage, DurableStorageOptions, StorageCounts, StorageReport } from '../durable.ts'
import { createDurableStorage, DEADLINE_MS, DURABLE_OPTIONS, EMPTY_COUNTS } from '../durable-storage.ts'
import { fromClient, fromUrl, type RedisClient } from './clients.ts'
import type { Connections } from './connection.ts'
import { createDatabase, type Database, type Send } from './database.ts'
import { createKeys, type Keys } from './keys.ts'
import { createTables } from './saver/tables.ts'
import { createDirectory } from './store/directory.ts'
import { toUtf8 } from './store/entries.ts'
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

/** Keys per SCAN. The keys that it finds are read in parallel, on one connection. */
const STEP = '1000'

async function reportOf({ send, keys, isCluster }: Database): Promise<StorageReport> {
  const [persistence, memory, layout] = await Promise.all([
    info(send, 'persistence'),
    info(send, 'memory'),
    send(['GET', keys.layout], keys.layout),
  ])
  const version = layout === null ? 0 : Number(textOf(layout))
  const durable = persistence.aof_enabled === '1'
  return {
    name: 'redis',
    reachable: true,
    schema: { version, newest: Number(LAYOUT) },
    durable,
    warnings: [...warningsOf(durable, memory, isCluster)],
    counts: version === 0 || isCluster ? EMPTY_COUNTS : await countAll({ send, keys }),
    // Redis reports the size of single keys only, not of one installation.
    bytes: undefined,
  }
}

function* warningsOf(
  durable: boolean,
  memory: Record<string, string>,
  isCluster: boolean,
): Generator<string> {
  if (!durable)
    yield 'Redis writes no append-only file: everything is lost when it stops. Set “appendonly yes”.'
  const { maxmemory = '0', maxmemory_policy: policy = 'noeviction' } = memory
  if (maxmemory !== '0' && policy !== 'noeviction') {
    yield `maxmemory-policy is ${policy}: Redis evicts keys when its memory is full. Set “maxmemory-policy noeviction”.`
  }
  if (isCluster) yield 'The contents of a cluster are not counted.'
}

async function countAll({ send, keys }: Pick<Database, 'send' | 'keys'>): Promise<StorageCounts> {
  const counts = { ...EMPTY_COUNTS }
  const [seconds] = (await send(['TIME'])) as unknown[]
  const now = Number(textOf(seconds)) * 1_000
  const pattern = keys.partition('*').meta.replace(/meta$/, '*')

  async function add(key: string): Promise<void> {
    const kind = key.slice(key.lastIndexOf(':') + 1)
    // The summand is awaited before the sum is read, because many keys are counted at once.
    const documents = kind === 'docs' ? await send(['HLEN', key], key) : 0
    counts.documents += Number(documents)
    // The saver's ordered set: checkpoints start with a c.
    const checkpoints = kind === 'order' ? await send(['ZLEXCOUNT', key, '[c', '(d'], key) : 0
    counts.checkpoints += Number(checkpoints)
    if (kind !== 'meta') return
    const meta = (await send(['HMGET', key, 'head', 'first', 'held', 'ends'], key)) as unknown[]
    const [head = 0, first = 1, held = 0, ends = 0] = meta.map(numberOf)
    counts.partitions += 1
    counts.events += head - first + 1
    if (held !== 0 && ends > now) counts.leases += 1
  }

  // SCAN may return a key twice.
  const seen = new Set<string>()
  let cursor = '0'
  do {
    const reply = await send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', STEP])
    const [next, found] = reply as [unknown, unknown[]]
    cursor = textOf(next)
    const fresh = found.map(textOf).filter((key) => !seen.has(key))
    for (const key of fresh) seen.add(key)
    await Promise.all(fresh.map(add))
  } while (cursor !== '0')
  return counts
}

const numberOf = (reply: unknown): number | undefined =>
  reply === null || reply === undefined ? undefined : Number(textOf(reply))

const OLDEST = [6, 2] as const
/** The version of the keys' contents. Never change the meaning of a number: add one, with what converts the one before. */
const LAYOUT = '1'

/** Checks that this Redis is suitable, and marks the prefix as ours. */
async function prepare(send: Send, keys: Keys): Promise<void> {
  const { redis_version: version } = await info(send, 'server')
  if (version !== undefined && isOlder(version)) {
    throw new AgentwireError(
      'unsupported',
      `redisStorage needs Redis ${OLDEST.join('.')} or newer; this is ${version}.`,
    )
  }
  await send(['SET', keys.layout, LAYOUT, 'NX'], keys.layout)
  const found = textOf(await send(['GET', keys.layout], keys.layout))
  if (found !== LAYOUT) {
    throw new AgentwireError(
      'unsupported',
      `The keys with this prefix have layout ${found}, but this version of agentwire only knows ${LAYOUT}: update agentwire, or use another prefix.`,
    )
  }
  const { aof_enabled: appendOnly } = await info(send, 'persistence')
  if (appendOnly === '0') {
    console.warn(
      'agentwire: this Redis writes no append-only file, so committed data is lost when it stops. Set "appendonly yes".',
    )
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}

/** A section of INFO, https://redis.io/docs/latest/commands/info/. */
async function info(send: Send, section: string): Promise<Record<string, string>> {
  const lines = textOf(await send(['INFO', section])).split('\r\n')
  return Object.fromEntries(
    lines.flatMap((line) => (line.includes(':') ? [line.split(':', 2) as [string, string]] : [])),
  )
}

function textOf(reply: unknown): string {
  return reply instanceof Uint8Array ? toUtf8(reply) : String(reply)
}
