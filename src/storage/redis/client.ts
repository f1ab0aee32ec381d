import { AgentwireError } from '../../errors.ts'
import { assertReadable } from '../storage-url.ts'
import { fromIoredis, type IoredisClient, isIoredis } from './ioredis.ts'
import { fromNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.ts'

/** Structurally a client of `ioredis` (5, 6) or of `redis` (node-redis, 4 to 6), of one server or of a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient

/** Where connections come from. */
export interface Connections {
  /** Whether the keys of one call must share a slot. */
  readonly isCluster: boolean
  /** What the client puts before every key. */
  readonly keyPrefix: string
  /** Makes a connection; it is not open yet. */
  createLine(receive?: Receive): Line
}

export type Receive = (channel: string, message: string) => void

export type Argument = string | Uint8Array

/** A connection, or one to each node of a cluster. It ends once and is not opened again. */
export interface Line {
  connect(): Promise<void>
  /** Strings come back as bytes. `key` says which node is meant. */
  send(key: string | undefined, command: readonly Argument[]): Promise<unknown>
  subscribe(channels: readonly string[]): Promise<void>
  unsubscribe(channel: string): Promise<void>
  /** Rejects where the connection that subscribes is broken. */
  ping(): Promise<void>
  /** Settles when it is over. */
  readonly ended: Promise<void>
  close(): void
}

/** The client stays its owner's: connections are made as it makes its own, and it is never used itself. */
export function fromClient(client: RedisClient, deadlineMs: number): Connections {
  if (isIoredis(client)) return fromIoredis(client, deadlineMs)
  if (isNodeRedis(client)) return fromNodeRedis(client, deadlineMs)
  throw new AgentwireError(
    'invalid_argument',
    'The client of redisStorage must be a client of the package ioredis or redis (of a server or a cluster).',
  )
}

export async function fromUrl(url: string, deadlineMs: number): Promise<Connections> {
  assertReadable(url)
  try {
    const { Redis } = await import('ioredis')
    return fromIoredis(new Redis(url, { lazyConnect: true, keepAlive: 10_000 }), deadlineMs)
  } catch (cause) {
    if (!isMissing(cause)) throw cause
  }
  try {
    const { createClient } = await import('redis')
    return fromNodeRedis(createClient({ url }), deadlineMs)
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    throw new AgentwireError(
      'missing_package',
      'A redis:// URL needs the package ioredis or redis: npm install ioredis, or give redisStorage a client.',
      { cause },
    )
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}
