import Database from 'libsql'
import { bytesOf, type SqliteValue } from '../../../../src/storage/sqlite/connection.ts'
import type { BareClient } from './bare-client.ts'

/** How often `sqliteStorage` looks for the commits of others. */
const POLL_MS = 15

export async function openBareSqlite(url: string): Promise<BareClient> {
  // This is a file of its own, because another writer would block the storage.
  const database = new Database(`${url.replace(/^file:/, '')}.bare`)
  database.exec('PRAGMA busy_timeout = 5000')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  let poll: ReturnType<typeof setInterval> | undefined
  let statements: ReturnType<typeof prepare> | undefined

  function prepare() {
    return {
      begin: database.prepare('BEGIN IMMEDIATE'),
      head: database.prepare('UPDATE bare_logs SET head = head + ? WHERE id = 1 RETURNING head'),
      insert: database.prepare('INSERT INTO bare_events (log, seq, data) VALUES (1, ?, ?)'),
      commit: database.prepare('COMMIT'),
      read: database.prepare('SELECT seq, data FROM bare_events WHERE log = 1 AND seq > ? ORDER BY seq'),
      version: database.prepare('PRAGMA data_version'),
    }
  }

  return {
    async setup() {
      database.exec(`CREATE TABLE IF NOT EXISTS bare_logs (id INTEGER PRIMARY KEY, head INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS bare_events (log INTEGER, seq INTEGER, data BLOB, PRIMARY KEY (log, seq)) WITHOUT ROWID;
        INSERT OR IGNORE INTO bare_logs VALUES (1, 0)`)
    },
    async append(data, events) {
      const { begin, head, insert, commit } = (statements ??= prepare())
      begin.run()
      const row = head.get(events) as { readonly head: number }
      insert.run(row.head, data)
      commit.run()
    },
    async read(after) {
      const { read } = (statements ??= prepare())
      const rows = read.all(after) as { readonly seq: number; readonly data: SqliteValue }[]
      return rows.map(({ seq, data }) => ({ seq, data: bytesOf(data) }))
    },
    async watch(bell) {
      const { version } = (statements ??= prepare())
      const now = () => (version.get() as { readonly data_version: number }).data_version
      let seen = now()
      poll = setInterval(() => {
        const current = now()
        if (current === seen) return
        seen = current
        bell()
      }, POLL_MS)
    },
    async close() {
      clearInterval(poll)
      database.close()
    },
  }
}
