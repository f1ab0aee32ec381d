import { createHash } from 'node:crypto'
import type { PostgresPoolClient } from './pool.ts'

/** The client's connection is the server's own: no pooler gives its statements to other connections. */
const direct = new WeakMap<PostgresPoolClient, boolean>()

/**
 * Whether statements that are prepared on this connection stay with it. A pooler in transaction mode tells its
 * clients another process of the server than the one that answers.
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

/** Whether a statement failed, before it did anything, because others have dropped what was prepared. */
export function lostStatements(client: PostgresPoolClient, error: unknown): boolean {
  if ((error as { code?: unknown } | null)?.code !== '26000') return false
  direct.set(client, false)
  return true
}

/** The same for the same text, whoever prepares it. */
export function nameOf(text: string): string {
  return `agentwire_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
}
