import type { RetentionOptions } from '../../store/retention.ts'
import type { Database } from '../database.ts'

/** Logs per transaction. */
const LIMIT = 200

/**
 * The policy of `applyRetention`, in the server-side functions `expire` and `evict`, because a sweep would
 * otherwise fetch a row for each thread. Their lock admits one process at a time, so nothing is counted
 * twice.
 */
export async function expireLogs(
  { call }: Database,
  { maxThreadBytes, maxTotalBytes, maxAgeMs }: RetentionOptions,
): Promise<void> {
  const whole = (value: number | undefined) => (value === undefined ? null : Math.floor(value))
  async function resultOf(name: string, ...values: unknown[]): Promise<string | null> {
    return (await call(name, values, { mutates: true }))[0]!.value!
  }
  if (maxThreadBytes !== undefined || maxAgeMs !== undefined) {
    for (let after: string | null = ''; after !== null; )
      after = await resultOf('expire', after, whole(maxAgeMs), whole(maxThreadBytes), LIMIT)
  }
  if (maxTotalBytes === undefined) return
  while ((await resultOf('evict', whole(maxTotalBytes), LIMIT)) === 't');
}
