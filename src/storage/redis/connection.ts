import { createHash } from 'node:crypto'

/** Opens connections with the settings of the user's client. */
export interface Connections {
  /** Whether the keys of one call must share a slot. */
  readonly isCluster: boolean
  /** The client's prefix for every key. */
  readonly keyPrefix: string
  /** Creates a connection, which is not open yet. */
  createConnection(receive?: Receive): Connection
}

export type Receive = (channel: string, message: string) => void

export type Argument = string | Uint8Array

/** A connection, or one to each node of a cluster. Once closed, it is not reopened. */
export interface Connection {
  connect(): Promise<unknown>
  /** Strings are returned as bytes. `key` selects the node. */
  send(key: string | undefined, command: string, args: readonly Argument[]): Promise<unknown>
  subscribe(channels: readonly string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  /** Rejects if the subscribing connection is broken. */
  ping(): Promise<unknown>
  readonly ended: Promise<void>
  close(): void
}

export interface Script {
  readonly text: string
  readonly sha: string
}

/** `clock()`: milliseconds since 1970. `int(n)`: a whole number with all digits; Lua prints only 14. */
const PRELUDE = `
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function int(n)
  return string.format('%.0f', n)
end
`

export function script(body: string): Script {
  const text = PRELUDE + body
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
