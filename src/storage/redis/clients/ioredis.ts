import type { Argument, Connection, Connections, Receive } from '../connection.ts'

/** Structurally a `Redis` or a `Cluster` of `ioredis`. */
export interface IoredisClient {
  readonly isCluster?: boolean
  readonly options: { readonly keyPrefix?: unknown }
  callBuffer(command: string, ...args: never[]): Promise<unknown>
  duplicate(...args: never[]): unknown
}

/** The part of a duplicate that is used. */
interface Duplicate {
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

export function isIoredis(client: object): client is IoredisClient {
  return 'callBuffer' in client && typeof client.callBuffer === 'function' && 'duplicate' in client
}

/** By default, ioredis resends active commands after a connection failure, so a commit could run twice. */
export function fromIoredis(client: IoredisClient, deadlineMs: number): Connections {
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
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => Duplicate
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
    createConnection: (receive) => createConnection(make(), receive),
  }
}

function createConnection(redis: Duplicate, receive: Receive | undefined): Connection {
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
export function toBytes(argument: Argument): string | Buffer {
  if (typeof argument === 'string') return argument
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength)
}
