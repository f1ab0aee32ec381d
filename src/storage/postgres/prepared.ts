import { createHash } from 'node:crypto'
import type { PostgresPoolClient } from './pool.ts'

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
