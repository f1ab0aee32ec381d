import { AgentwireError } from '../../core/errors.ts'
import { assertReadable } from '../storage-url.ts'
import type { Argument, Connection, Connections, Receive } from './connection.ts'

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

/** Structurally what `createClient` or `createCluster` of `redis` returns. */
export interface NodeRedisClient {
  sendCommand(...args: never[]): Promise<unknown>
  duplicate(...args: never[]): unknown
  connect(): Promise<unknown>
}

/** The part of a duplicate that is used. */
interface Duplicate {
  connect(): Promise<unknown>
  sendCommand(...args: unknown[]): Promise<unknown>
  subscribe(
    channels: string | readonly string[],
    listener: (message: string, channel: string) => void,
  ): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'end' | 'error', listener: () => void): unknown
  /** Version 5 and later. */
  destroy?(): unknown
  disconnect(): Promise<unknown>
}

/**
 * Makes version 4, and with the second option later versions, return strings as bytes: 36 is the `$` of RESP.
 */
const AS_BYTES = { returnBuffers: true, typeMapping: { 36: Buffer } }

function isNodeRedis(client: object): client is NodeRedisClient {
  return 'sendCommand' in client && 'duplicate' in client && !('getSentinelNode' in client)
}

function fromNodeRedis(client: NodeRedisClient, deadlineMs: number): Connections {
  const isCluster = 'masters' in client
  const { options = {} } = client as { options?: { socket?: object; keyPrefix?: string } }
  const duplicate = client.duplicate.bind(client) as (overrides?: object) => Duplicate
  const make = () =>
    isCluster
      ? duplicate()
      : duplicate({
          socket: { ...options.socket, connectTimeout: deadlineMs, reconnectStrategy: false },
          disableOfflineQueue: true,
        })
  return {
    isCluster,
    keyPrefix: options.keyPrefix ?? '',
    createConnection: (receive) => createConnection(make(), isCluster, receive),
  }
}

function createConnection(client: Duplicate, isCluster: boolean, receive: Receive | undefined): Connection {
  let finish = () => {}
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  const listener = (message: string, channel: string) => receive?.(channel, message)

  function close(): void {
    if (isOver) return
    isOver = true
    finish()
    // A client that never connected, or has already closed, throws.
    const closing = async () => (client.destroy ? client.destroy() : client.disconnect())
    closing().catch(() => {})
  }

  client.on('end', close)
  // A cluster reopens its connections itself.
  client.on('error', isCluster ? () => {} : close)
  return {
    ended,
    connect: async () => client.connect(),
    send: (key, name, rest) => {
      const args = [name, ...rest.map(toBytes)]
      return isCluster ? client.sendCommand(key, false, args, AS_BYTES) : client.sendCommand(args, AS_BYTES)
    },
    subscribe: async (channels) => client.subscribe(channels, listener),
    unsubscribe: async (channel) => client.unsubscribe(channel),
    ping: async () => !isCluster && client.sendCommand(['PING']),
    close,
  }
}

/** Structurally a `Redis` or a `Cluster` of `ioredis`. */
export interface IoredisClient {
  readonly isCluster?: boolean
  readonly options: { readonly keyPrefix?: unknown }
  callBuffer(command: string, ...args: never[]): Promise<unknown>
  duplicate(...args: never[]): unknown
}

/** The part of a duplicate that is used. */
interface IoDuplicate {
  connect(): Promise<unknown>
  callBuffer(command: string, args: (string | Buffer)[]): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'message', listener: Receive): unknown
  on(event: 'end' | 'error', listener: () => void): unknown
  disconnect(): void
}

/** Nothing is published to this channel: the response to SUBSCRIBE shows that the connection is alive. */
const SILENT_CHANNEL = 'agentwire:ping'

function isIoredis(client: object): client is IoredisClient {
  return 'callBuffer' in client && typeof client.callBuffer === 'function' && 'duplicate' in client
}

/** By default, ioredis resends active commands after a connection failure, so a commit could run twice. */
function fromIoredis(client: IoredisClient, deadlineMs: number): Connections {
  const isCluster = client.isCluster === true
  const options = {
    lazyConnect: true,
    retryStrategy: null,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    enableAutoPipelining: false,
    autoResubscribe: false,
    connectTimeout: deadlineMs,
    commandTimeout: undefined,
    stringNumbers: false,
    keyPrefix: '',
  }
  const { keyPrefix = '', redisOptions } = client.options as { keyPrefix?: unknown; redisOptions?: object }
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => IoDuplicate
  const make = () =>
    isCluster
      ? duplicate([], {
          lazyConnect: true,
          clusterRetryStrategy: null,
          retryDelayOnFailover: 0,
          enableAutoPipelining: false,
          scaleReads: 'master',
          keyPrefix: '',
          redisOptions: { ...redisOptions, ...options },
        })
      : duplicate(options)
  return {
    isCluster,
    keyPrefix: String(keyPrefix),
    createConnection: (receive) => createIoConnection(make(), receive),
  }
}

function createIoConnection(redis: IoDuplicate, receive: Receive | undefined): Connection {
  let finish = () => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  redis.on('end', finish)
  // Active commands reject by themselves, but an `error` event without a listener is printed.
  redis.on('error', () => {})
  if (receive) redis.on('message', receive)
  return {
    ended,
    connect: async () => redis.connect(),
    send: (_, command, args) => redis.callBuffer(command, args.map(toBytes)),
    subscribe: async (channels) => redis.subscribe(...channels),
    unsubscribe: async (channel) => redis.unsubscribe(channel),
    ping: async () => redis.subscribe(SILENT_CHANNEL),
    close() {
      finish()
      redis.disconnect()
    },
  }
}

/** The clients accept bytes only as Buffers. */
function toBytes(argument: Argument): string | Buffer {
  if (typeof argument === 'string') return argument
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength)
}
