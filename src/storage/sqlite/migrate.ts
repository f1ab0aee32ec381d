import { AgentwireError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'

/** The modes of https://www.sqlite.org/pragma.html#pragma_synchronous that are safe in WAL mode. */
export type Synchronous = 'normal' | 'full'

/** WAL is a property of the file, the other settings of the connection. */
export function configure({ get, exec }: Connection, busyMs: number, synchronous: Synchronous): void {
  exec(`PRAGMA busy_timeout = ${busyMs}`)
  const mode = get('PRAGMA journal_mode = WAL')?.journal_mode
  if (mode !== 'wal') {
    throw unfit(
      `The database must be a file that several connections can share in WAL mode; it is in mode ${mode}.`,
    )
  }
  exec(`PRAGMA synchronous = ${synchronous.toUpperCase()}`)
  if (get('PRAGMA encoding')?.encoding !== 'UTF-8') throw unfit('The database must be encoded in UTF-8.')
}

/** Migrates the tables to this library's version, in a transaction with the write lock. */
export function migrate(connection: Connection, prefix: string): void {
  const { exec, get, run } = connection
  // Another process may have migrated already, possibly to a newer version.
  if (isMigrated(connection, prefix)) return
  exec(`CREATE TABLE IF NOT EXISTS ${prefix}schema_version (version INTEGER NOT NULL)`)
  const version = get('SELECT version FROM {schema_version}')?.version
  if (version === undefined) run('INSERT INTO {schema_version} VALUES (0)')
  for (const migration of migrations.slice(Number(version ?? 0))) exec(migration(prefix))
  run('UPDATE {schema_version} SET version = ?', migrations.length)
}

/** Without a lock. */
export function isMigrated(connection: Connection, prefix: string): boolean {
  const version = versionOf(connection, prefix)
  if (version <= migrations.length) return version === migrations.length
  throw unfit('A newer version of this library has migrated the database: update this one too.')
}

/** 0 if nothing is installed. */
export function versionOf({ get }: Connection, prefix: string): number {
  const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?`
  if (get(sql, `${prefix}schema_version`) === undefined) return 0
  return Number(get('SELECT version FROM {schema_version}')?.version ?? 0)
}

const unfit = (message: string): AgentwireError => new AgentwireError('unfit_database', message)

/**
 * Applied in order, each once. Never change a released migration: add another. Names are encoded by `toText`.
 *
 * - `partitions`: one row for each partition that ever existed, because its counters never decrease. `bytes`
 *   counts everything ever appended, `docs_changed` the commits that touched more than the log.
 * - `log`: one row for each append, or several for a large one. `layout` locates each event in `data`.
 *   `starts` and `ends` are its position among all bytes of the partition. It is a single tree: an append
 *   writes one page of it.
 * - `fields`: what `list` matches and orders by. The column `key` has no type: numbers sort before strings.
 * - `counts`: the number of `fields` rows for a field of a collection. Triggers maintain it.
 * - `checkpoints`: `cells` has the version of each channel and the `channel_values` row of its value, if any:
 *   `[[channel, version as JSON, id | null], …]`. Checkpoints share the rows of unchanged values. `sort_key`
 *   is null if a checkpoint's id is its sort key.
 */
export const migrations: readonly ((prefix: string) => string)[] = [
  (prefix) => `
CREATE TABLE ${prefix}partitions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  head INTEGER NOT NULL,
  first_retained INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  token INTEGER NOT NULL,
  version INTEGER NOT NULL,
  lease_owner TEXT,
  lease_token INTEGER,
  lease_until INTEGER,
  docs_changed INTEGER NOT NULL
);
CREATE INDEX ${prefix}partitions_lease ON ${prefix}partitions (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE ${prefix}log (
  partition INTEGER NOT NULL,
  last INTEGER NOT NULL,
  first INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  at INTEGER NOT NULL,
  layout TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (partition, last)
) WITHOUT ROWID;

CREATE TABLE ${prefix}documents (
  partition TEXT NOT NULL,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  expires_at INTEGER,
  fields TEXT NOT NULL,
  value TEXT NOT NULL
);
CREATE UNIQUE INDEX ${prefix}documents_id ON ${prefix}documents (collection, partition, id);
CREATE INDEX ${prefix}documents_partition ON ${prefix}documents (partition);
CREATE INDEX ${prefix}documents_expiry ON ${prefix}documents (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE ${prefix}fields (
  collection TEXT NOT NULL,
  field TEXT NOT NULL,
  key NOT NULL,
  partition TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (collection, field, key, partition, id)
) WITHOUT ROWID;

CREATE TABLE ${prefix}counts (
  collection TEXT NOT NULL,
  field TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (collection, field)
) WITHOUT ROWID;
CREATE TRIGGER ${prefix}fields_added AFTER INSERT ON ${prefix}fields BEGIN
  INSERT INTO ${prefix}counts VALUES (NEW.collection, NEW.field, 1)
    ON CONFLICT (collection, field) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER ${prefix}fields_removed AFTER DELETE ON ${prefix}fields BEGIN
  UPDATE ${prefix}counts SET n = n - 1 WHERE collection = OLD.collection AND field = OLD.field;
  DELETE FROM ${prefix}counts WHERE collection = OLD.collection AND field = OLD.field AND n = 0;
END;

CREATE TABLE ${prefix}checkpoints (
  thread_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  parent_id TEXT,
  cells TEXT NOT NULL,
  metadata_type TEXT NOT NULL,
  metadata BLOB NOT NULL,
  body_type TEXT NOT NULL,
  body BLOB NOT NULL,
  sort_key TEXT
);
CREATE UNIQUE INDEX ${prefix}checkpoints_id ON ${prefix}checkpoints (thread_id, namespace, checkpoint_id);
CREATE INDEX ${prefix}checkpoints_sorted ON ${prefix}checkpoints (thread_id, namespace, coalesce(sort_key, checkpoint_id));
CREATE INDEX ${prefix}checkpoints_of_all ON ${prefix}checkpoints (coalesce(sort_key, checkpoint_id), thread_id, namespace);

CREATE TABLE ${prefix}channel_values (
  id INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  type TEXT NOT NULL,
  data BLOB NOT NULL
);
CREATE INDEX ${prefix}channel_values_version ON ${prefix}channel_values (thread_id, namespace, channel, version);

CREATE TABLE ${prefix}writes (
  thread_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  channel TEXT NOT NULL,
  type TEXT NOT NULL,
  data BLOB NOT NULL
);
CREATE UNIQUE INDEX ${prefix}writes_place ON ${prefix}writes (thread_id, namespace, checkpoint_id, task_id, place);
`,
]
