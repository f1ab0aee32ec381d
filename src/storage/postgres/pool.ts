import { createHash } from 'node:crypto'
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

/** Whether the client is connected directly: no pooler shares its statements with other connections. */
const direct = new WeakMap<PostgresPoolClient, boolean>()

/**
 * Whether prepared statements stay on this connection. A pooler in transaction mode reports another server
 * process to its clients than the one that responds.
 */
export async function keepsStatements(client: PostgresPoolClient): Promise<boolean> {
  const known = direct.get(client)
  if (known !== undefined) return known
  const { processID: told } = client
  const { rows } = told ? await client.query({ text: 'SELECT pg_backend_pid() AS pid' }) : { rows: [] }
  const [row] = rows as { readonly pid: unknown }[]
  const isDirect = row !== undefined && Number(row.pid) === told
  direct.set(client, isDirect)
  return isDirect
}

/** Whether a statement failed, before it did anything, because its prepared statement was dropped. */
export function lostStatements(client: PostgresPoolClient, error: unknown): boolean {
  if ((error as { code?: unknown } | null)?.code !== '26000') return false
  direct.set(client, false)
  return true
}

/** The same name for the same text, in every process. */
export function nameOf(text: string): string {
  return `agentwire_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
}
