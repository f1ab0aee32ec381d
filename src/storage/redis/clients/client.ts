import { AgentwireError } from '../../../core/errors.ts'
import { assertReadable } from '../../storage-url.ts'
import type { Connections } from '../connection.ts'
import { fromIoredis, type IoredisClient, isIoredis } from './ioredis.ts'
import { fromNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.ts'

/** Structurally a client of `ioredis` (5, 6) or of `redis` (node-redis, 4 to 6), of a server or a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient

/**
 * The owner keeps the client: connections are opened with its settings, and the client itself is never used.
 */
export function fromClient(client: RedisClient, deadlineMs: number): Connections {
  if (isIoredis(client)) return fromIoredis(client, deadlineMs)
  if (isNodeRedis(client)) return fromNodeRedis(client, deadlineMs)
  throw new AgentwireError(
    'invalid_argument',
    'The client of redisStorage must be a client from the package ioredis or redis (for a server or a cluster).',
  )
}

export async function fromUrl(url: string, deadlineMs: number): Promise<Connections> {
  assertReadable(url)
  try {
    const { default: Redis } = await import('ioredis')
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
      'A redis:// URL requires the package ioredis or redis: npm install ioredis, or pass redisStorage a client.',
      { cause },
    )
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}
