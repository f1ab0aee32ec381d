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
