import { AgentwireError } from '../../core/errors.ts'

/** Structurally the `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  listenerCount(event: 'error'): number
}

/** Structurally the `PoolClient` of `pg`. */
export interface PostgresPoolClient {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** The server process of this connection, as reported when it was opened. */
  readonly processID?: number | null | undefined
}

export interface PostgresQuery {
  text: string
  /** If set, the statement is prepared under this name on each connection's first use. */
  name?: string | undefined
  values?: unknown[]
  types?: { getTypeParser(): (value: string) => unknown }
}

/** Reads every column as Postgres writes it, so that the user's parsers have no effect. */
export const AS_TEXT = { getTypeParser: () => (value: string) => value }

/** A row read with `AS_TEXT`. */
export type Row = Record<string, string | null>

/** A connection outside the pool: structurally the `Client` of `pg`. */
export interface PostgresClient {
  readonly host?: string
  readonly port?: number
  connect(): Promise<unknown>
  query(query: PostgresQuery): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  end(): Promise<void>
}

/** The pool, and a factory for connections outside it. */
export interface Connections {
  readonly pool: PostgresPool
  createClient(): PostgresClient
  end(): Promise<void>
}

/** The database's address for errors, without user and password. Empty if unknown. */
export function hostOf({ createClient }: Pick<Connections, 'createClient'>): string {
  try {
    const { host, port } = createClient()
    if (!host) return ''
    // A path is a socket on this machine.
    return host.startsWith('/') ? ` at ${host}` : ` at ${host.includes(':') ? `[${host}]` : host}:${port}`
  } catch {
    return '' // If the options cannot be read, that is the error to report.
  }
}

/** The owner closes the pool. The extra connection uses the pool's configuration. */
export function fromPool(pool: PostgresPool, deadlineMs: number): Connections {
  const { Client, options } = pool as {
    Client?: new (options: object) => PostgresClient
    options?: { connectionTimeoutMillis?: number }
  }
  if (!Client || !options) {
    throw new AgentwireError(
      'invalid_argument',
      'The pool of postgresStorage must be a Pool from the package pg.',
    )
  }
  // Not a spread, because the password is not enumerable.
  const own: typeof options = Object.defineProperties({}, Object.getOwnPropertyDescriptors(options))
  own.connectionTimeoutMillis ||= deadlineMs
  return { pool, createClient: () => new Client(own), end: async () => {} }
}

export async function fromUrl(url: string, deadlineMs: number): Promise<Connections> {
  const { Client, Pool } = await importPg()
  const options = {
    connectionString: url,
    connectionTimeoutMillis: deadlineMs,
    keepAlive: true,
    application_name: 'agentwire',
  }
  const pool = new Pool(options)
  return { pool, createClient: () => new Client(options), end: () => pool.end() }
}

async function importPg() {
  try {
    return (await import('pg')).default
  } catch (cause) {
    throw new AgentwireError(
      'missing_package',
      'A postgres:// URL requires the package pg: npm install pg, or pass postgresStorage a pool.',
      { cause },
    )
  }
}
