import type { RetentionOptions } from '../../store/retention.ts'
import type { Database, Row } from '../database.ts'

/** Logs that one transaction changes. */
const LIMIT = 200

/**
 * The policy of `applyRetention`, in the functions `expire` and `evict` on the server, because sweeps would
 * otherwise fetch a row for each thread. Their lock admits one process at a time, so nothing is counted
 * twice.
 */
export async function expireLogs(
  database: Database,
  { maxThreadBytes, maxTotalBytes, maxAgeMs }: RetentionOptions,
): Promise<void> {
  const { of } = database.names
  const call = async (text: string, ...given: unknown[]): Promise<Row> => {
    const values = given.map((value) => (typeof value === 'number' ? Math.floor(value) : value))
    const [row] = await database.run({ text, values, mutates: true })
    return row!
  }
  if (maxThreadBytes !== undefined || maxAgeMs !== undefined) {
    const text = `SELECT ${of('expire')}($1, $2, $3, $4) AS looked_at`
    for (let after: string | null = ''; after !== null; ) {
      after = (await call(text, after, maxAgeMs ?? null, maxThreadBytes ?? null, LIMIT)).looked_at!
    }
  }
  if (maxTotalBytes === undefined) return
  const text = `SELECT ${of('evict')}($1, $2) AS is_more`
  for (let isMore = true; isMore; ) isMore = (await call(text, maxTotalBytes, LIMIT)).is_more === 't'
}
