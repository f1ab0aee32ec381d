import pg from 'pg'
import type { BareClient } from './bare-client.ts'

const APPEND = `WITH log AS (UPDATE bare_logs SET head = head + $1 WHERE id = 1 RETURNING head)
  INSERT INTO bare_events (log, seq, data) SELECT 1, head, $2 FROM log`
const APPEND_AND_RING = `WITH log AS (UPDATE bare_logs SET head = head + $1 WHERE id = 1 RETURNING head),
    written AS (INSERT INTO bare_events (log, seq, data) SELECT 1, head, $2 FROM log)
  SELECT pg_notify('bare', '') FROM log`

export async function openBarePostgres(url: string): Promise<BareClient> {
  const pool = new pg.Pool({ connectionString: url })
  let listener: pg.Client | undefined
  return {
    async setup() {
      await pool.query(`CREATE TABLE IF NOT EXISTS bare_logs (id integer PRIMARY KEY, head bigint NOT NULL) WITH (fillfactor = 50);
        CREATE TABLE IF NOT EXISTS bare_events (log integer, seq bigint, data bytea, PRIMARY KEY (log, seq));
        INSERT INTO bare_logs VALUES (1, 0) ON CONFLICT DO NOTHING`)
    },
    async append(data, events, ring = false) {
      await pool.query(ring ? APPEND_AND_RING : APPEND, [events, data])
    },
    async read(after) {
      const text = 'SELECT seq, data FROM bare_events WHERE log = 1 AND seq > $1 ORDER BY seq'
      const { rows } = await pool.query<{ seq: string; data: Uint8Array }>(text, [after])
      return rows.map(({ seq, data }) => ({ seq: Number(seq), data }))
    },
    async watch(bell) {
      listener = new pg.Client({ connectionString: url })
      await listener.connect()
      listener.on('notification', bell)
      await listener.query('LISTEN bare')
    },
    async close() {
      await listener?.end()
      await pool.end()
    },
  }
}
