/** Milliseconds since 1970 by the server's clock, which advances within a transaction. */
export const NOW = `floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
/** The same for query conditions, which can then use an index. */
export const NOW_ONCE = `(SELECT ${NOW})`

/**
 * Names are stored as `keyOf` encodes them and compared byte by byte. `names` has the original names if they
 * differ.
 *
 * - `partitions`: the row stays when the rest is cleared, because its counters must not decrease. `bytes`
 *   counts the stored events.
 * - `fields`: a document's index, one row per field. Numbers have no `str`; strings have the number Infinity.
 *   The document key is one column, because the planner misjudges joins by several.
 * - `events`: one row has the events `first` to `last` of one append, see `Layout`.
 */
export const STORE_TABLES = `
CREATE TABLE {partitions} (
  partition text COLLATE "C" PRIMARY KEY,
  names text,
  head bigint NOT NULL,
  first_retained bigint NOT NULL,
  bytes bigint NOT NULL,
  token bigint NOT NULL,
  version bigint NOT NULL,
  lease_owner text,
  lease_token bigint,
  lease_until bigint
) WITH (fillfactor = 50);
CREATE INDEX ON {partitions} (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE {documents} (
  key bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  partition text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  names text,
  version bigint NOT NULL,
  value text NOT NULL,
  fields text NOT NULL,
  expires_at bigint,
  PRIMARY KEY (partition, collection, id)
);
CREATE INDEX ON {documents} (collection, partition, id);
CREATE INDEX ON {documents} (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE {fields} (
  document bigint NOT NULL,
  field text COLLATE "C" NOT NULL,
  num double precision NOT NULL,
  str text COLLATE "C" NOT NULL,
  partition text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (document, field)
);
CREATE INDEX ON {fields} (collection, field, num, str, partition, id);

CREATE TABLE {events} (
  partition text COLLATE "C" NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  bytes integer NOT NULL,
  at bigint NOT NULL,
  layout text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (partition, last)
);
`

/**
 * `read_log` joins rows after `p_after` until they hold `p_limit` events or `p_bytes` bytes. `data` is text
 * with one character per byte, or base64 if `encoded`. `sweep` removes expired documents and returns their
 * number.
 *
 * `expire` drops what `RetentionOptions` allow, in at most `p_limit` logs, and returns the last log that it
 * read, or null at the end. `evict` continues until all logs together have at most `p_total` bytes, or
 * returns that it has reached `p_limit` logs. They do nothing while another process runs them.
 */
export const STORE_FUNCTIONS = `
CREATE OR REPLACE FUNCTION {read_log}(
  p_partition text, p_after bigint, p_limit integer, p_bytes bigint,
  OUT head bigint, OUT first_retained bigint, OUT first bigint, OUT layouts text, OUT data text, OUT encoded boolean
) LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_column
DECLARE
  row_last bigint;
  row_bytes integer;
  since bigint;
  until bigint;
  total bigint := 0;
  bytes bytea;
BEGIN
  SELECT p.head, p.first_retained INTO head, first_retained
  FROM {partitions} AS p WHERE p.partition = p_partition;
  since := greatest(p_after + 1, first_retained);
  IF head IS NULL OR since > head THEN
    RETURN;
  END IF;
  FOR row_last, row_bytes IN
    SELECT e.last, e.bytes FROM {events} AS e
    WHERE e.partition = p_partition AND e.last >= since ORDER BY e.last LIMIT p_limit
  LOOP
    EXIT WHEN until IS NOT NULL AND (total >= p_bytes OR until - since + 1 >= p_limit);
    until := row_last;
    total := total + row_bytes;
  END LOOP;
  SELECT min(e.first), string_agg(e.layout, ','), string_agg(e.data, '')
  INTO first, layouts, bytes
  FROM (
    SELECT * FROM {events} WHERE partition = p_partition AND last BETWEEN since AND until ORDER BY last
  ) AS e;
  -- As text, because drivers take what is sent in binary for UTF-8. Text has every byte but zero.
  encoded := false;
  BEGIN
    data := convert_from(bytes, 'LATIN1');
  EXCEPTION WHEN character_not_in_repertoire THEN
    encoded := true;
    data := encode(bytes, 'base64');
  END;
END
$body$;

CREATE OR REPLACE FUNCTION {drop_before}(p_partition text, p_first bigint) RETURNS void
LANGUAGE sql AS $body$
  WITH gone AS (DELETE FROM {events} WHERE partition = p_partition AND last < p_first RETURNING bytes)
  UPDATE {partitions}
  SET first_retained = greatest(first_retained, p_first), bytes = bytes - coalesce((SELECT sum(g.bytes) FROM gone AS g), 0)
  WHERE partition = p_partition;
$body$;

CREATE OR REPLACE FUNCTION {trim}(p_partition text, p_keep bigint, p_older_ms bigint) RETURNS void
LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  part {partitions};
  first_kept bigint;
BEGIN
  SELECT * INTO part FROM {partitions} WHERE partition = p_partition FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF p_keep IS NULL THEN
    SELECT first INTO first_kept FROM {events}
    WHERE partition = p_partition AND at >= ${NOW_ONCE} - p_older_ms ORDER BY last LIMIT 1;
    first_kept := coalesce(first_kept, part.head + 1);
  ELSE
    first_kept := part.head - p_keep + 1;
  END IF;
  IF first_kept > part.first_retained THEN
    PERFORM {drop_before}(p_partition, first_kept);
  END IF;
END
$body$;

CREATE OR REPLACE FUNCTION {expire}(p_after text, p_age_ms bigint, p_thread_bytes bigint, p_limit integer) RETURNS text
LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  item record;
  since bigint := coalesce(${NOW_ONCE} - p_age_ms, 0);
  looked_at text;
  places integer := 0;
  first_kept bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('agentwire expire {partitions}', 0)) THEN
    RETURN NULL;
  END IF;
  FOR item IN
    SELECT p.partition, p.head, p.bytes FROM {partitions} AS p CROSS JOIN LATERAL (
      SELECT at FROM {events} WHERE partition = p.partition ORDER BY last LIMIT 1
    ) AS oldest
    WHERE p.partition > p_after AND p.lease_token IS NULL AND (p.bytes > p_thread_bytes OR oldest.at < since)
    ORDER BY p.partition LIMIT p_limit FOR NO KEY UPDATE OF p SKIP LOCKED
  LOOP
    places := places + 1;
    looked_at := item.partition;
    -- The first that is young enough, and has no more than the bound from it on; the last stays if it is young enough.
    SELECT min(e.first) INTO first_kept FROM (
      SELECT first, last, at, sum(bytes) OVER (ORDER BY last DESC) AS size FROM {events}
      WHERE partition = item.partition
    ) AS e
    WHERE e.at >= since AND (p_thread_bytes IS NULL OR e.size <= p_thread_bytes OR e.last = item.head);
    PERFORM {drop_before}(item.partition, coalesce(first_kept, item.head + 1));
  END LOOP;
  RETURN CASE WHEN places = p_limit THEN looked_at END;
END
$body$;

CREATE OR REPLACE FUNCTION {evict}(p_total bigint, p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  item record;
  excess bigint;
  first_kept bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('agentwire expire {partitions}', 0)) THEN
    RETURN false;
  END IF;
  SELECT sum(bytes) - p_total INTO excess FROM {partitions};
  IF excess IS NULL OR excess <= 0 THEN
    RETURN false;
  END IF;
  FOR item IN
    SELECT p.partition, p.head, p.bytes FROM {partitions} AS p CROSS JOIN LATERAL (
      SELECT at FROM {events} WHERE partition = p.partition ORDER BY last DESC LIMIT 1
    ) AS newest
    WHERE p.lease_token IS NULL AND p.bytes > 0
    ORDER BY newest.at, p.partition LIMIT p_limit FOR NO KEY UPDATE OF p SKIP LOCKED
  LOOP
    SELECT min(e.first) INTO first_kept FROM (
      SELECT first, sum(bytes) OVER (ORDER BY last DESC) AS size FROM {events} WHERE partition = item.partition
    ) AS e
    WHERE e.size <= item.bytes - excess;
    excess := excess - (
      SELECT coalesce(sum(bytes), 0) FROM {events}
      WHERE partition = item.partition AND last < coalesce(first_kept, item.head + 1)
    );
    PERFORM {drop_before}(item.partition, coalesce(first_kept, item.head + 1));
    IF excess <= 0 THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN FOUND;
END
$body$;

CREATE OR REPLACE FUNCTION {sweep}(p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $body$
DECLARE
  dead bigint[];
BEGIN
  -- Locked first, because a commit may put a document again, and statement by statement, so that each sees what the one
  -- before it waited for.
  dead := ARRAY(
    SELECT key FROM {documents} WHERE expires_at <= ${NOW_ONCE}
    ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  );
  DELETE FROM {fields} WHERE document = ANY (dead);
  DELETE FROM {documents} WHERE key = ANY (dead);
  RETURN cardinality(dead);
END
$body$;
`
