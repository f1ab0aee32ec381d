/** Makes connections as the user's client makes its own. */
export interface Connections {
  /** Whether the keys of one call must share a slot. */
  readonly isCluster: boolean
  /** What the client puts before every key. */
  readonly keyPrefix: string
  /** Makes a connection; it is not open yet. */
  createConnection(receive?: Receive): Connection
}

export type Receive = (channel: string, message: string) => void

export type Argument = string | Uint8Array

/** A connection, or one to each node of a cluster. It ends once and is not opened again. */
export interface Connection {
  connect(): Promise<unknown>
  /** Strings come back as bytes. `key` says which node is meant. */
  send(key: string | undefined, command: string, args: readonly Argument[]): Promise<unknown>
  subscribe(channels: readonly string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  /** Rejects where the connection that subscribes is broken. */
  ping(): Promise<unknown>
  readonly ended: Promise<void>
  close(): void
}
