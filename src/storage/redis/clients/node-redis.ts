import type { Connection, Connections, Receive } from '../connection.ts'
import { toBytes } from './ioredis.ts'

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

export function isNodeRedis(client: object): client is NodeRedisClient {
  return 'sendCommand' in client && 'duplicate' in client && !('getSentinelNode' in client)
}

export function fromNodeRedis(client: NodeRedisClient, deadlineMs: number): Connections {
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
