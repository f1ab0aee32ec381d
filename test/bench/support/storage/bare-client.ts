import { schemeOf } from '../../../../src/storage/storage-url.ts'
import { openBarePostgres } from './bare-postgres.ts'
import { openBareRedis } from './bare-redis.ts'
import { openBareSqlite } from './bare-sqlite.ts'

/**
 * The least that a client of a database can do for one log: append in one commit, read on, be notified of appends. It checks no
 * lease and no head, knows one log only, and repairs nothing.
 */
export interface BareClient {
  setup(): Promise<void>
  /** Writes one row and the log's new head in one commit. With `ring` it notifies those who watch. */
  append(data: Uint8Array, events: number, ring?: boolean): Promise<void>
  /** Reads the rows whose last event is later at once. */
  read(after: number): Promise<readonly BareRow[]>
  watch(bell: () => void): Promise<void>
  close(): Promise<void>
}

export interface BareRow {
  /** The sequence number of its last event. */
  readonly seq: number
  readonly data: Uint8Array
}

const CLIENTS: Readonly<Record<string, (url: string) => Promise<BareClient>>> = {
  file: openBareSqlite,
  postgres: openBarePostgres,
  redis: openBareRedis,
}

export const openBareClient = (url: string): Promise<BareClient> => CLIENTS[schemeOf(url)]!(url)
