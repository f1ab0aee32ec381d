import { newestId, SORT_KEY } from '../../sql/checkpoints.ts'
import { NOW } from '../store/sql-store.ts'

/**
 * `cells` has the version of each channel and the `channel_values` row of its value, if any:
 * `{channel: [version, id | null]}`. Checkpoints share the rows of unchanged values. `sort_key` is null if a
 * checkpoint's id is its sort key: see `sortKeyBehind`.
 */
export const CHECKPOINT_TABLES = `
CREATE TABLE {checkpoints} (
  thread_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  names text,
  cells jsonb NOT NULL,
  type text NOT NULL,
  body bytea NOT NULL,
  metadata_type text NOT NULL,
  metadata bytea NOT NULL,
  sort_key text COLLATE "C",
  PRIMARY KEY (thread_id, namespace, checkpoint_id)
);
CREATE INDEX ON {checkpoints} (thread_id, namespace, ${SORT_KEY});

CREATE TABLE {channel_values} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thread_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  type text NOT NULL,
  data bytea NOT NULL
);
CREATE INDEX ON {channel_values} (thread_id, namespace, channel, version);

CREATE TABLE {writes} (
  thread_id text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  place integer NOT NULL,
  names text,
  channel text NOT NULL,
  type text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (thread_id, namespace, checkpoint_id, task_id, place)
);
`

/** The identifying columns of a write, as `readWrite` reads them. */
const aboutWrite = (writes: string): string =>
  `jsonb_build_array(${writes}.task_id, ${writes}.place, ${writes}.names, ${writes}.channel)::text`

/**
 * `held` locks a lease's row until the transaction ends, so that no process takes the lease between check and
 * write.
 *
 * `put_checkpoint` counts as fenced if the parent was forgotten: see `CheckpointTables.put`. It finds the unchanged values: in the parent if it has the version, otherwise anywhere in the
 * namespace. If several checkpoints have the version, because branches have the same version numbers, it
 * writes nothing and returns the positions of those channels in `p_carried`, unless `p_latest` allows it to
 * use the latest. `p_data` contains all bytes of the call.
 *
 * `load` returns the checkpoints at `[[thread, namespace, id | null for the newest]]` with their writes, each
 * with the position of its address, and their shared values, each with its id.
 */
export const CHECKPOINT_FUNCTIONS = `
CREATE OR REPLACE FUNCTION {held}(p_partition text, p_token bigint) RETURNS boolean
LANGUAGE plpgsql AS $body$
DECLARE
  found_token bigint;
  found_until bigint;
BEGIN
  SELECT lease_token, lease_until INTO found_token, found_until
  FROM {partitions} WHERE partition = p_partition FOR SHARE;
  RETURN coalesce(found_token = p_token AND found_until > ${NOW}, false);
END
$body$;

CREATE OR REPLACE FUNCTION {put_checkpoint}(
  p_fence text, p_token bigint, p_thread text, p_namespace text, p_id text, p_parent text, p_names text,
  p_head jsonb, p_changed jsonb, p_carried jsonb, p_latest boolean, p_data bytea,
  OUT fenced boolean, OUT ambiguous integer[]
) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  item jsonb;
  parent jsonb;
  cells jsonb := '{}';
  value_id bigint;
  candidates bigint;
  newest_id text;
  newest_key text;
  own_key text;
  body bytea;
  metadata bytea;
  taken integer := 1;
BEGIN
  fenced := p_fence IS NOT NULL AND NOT {held}(p_fence, p_token);
  IF fenced THEN
    RETURN;
  END IF;
  body := substr(p_data, taken, (p_head->>'bytes')::integer);
  taken := taken + length(body);
  metadata := substr(p_data, taken, (p_head->>'metadataBytes')::integer);
  taken := taken + length(metadata);
  SELECT c.cells INTO parent FROM {checkpoints} AS c
  WHERE c.thread_id = p_thread AND c.namespace = p_namespace AND c.checkpoint_id = p_parent;
  fenced := NOT FOUND AND p_fence IS NOT NULL AND p_parent IS NOT NULL AND NOT EXISTS (
    SELECT FROM {checkpoints} AS c
    WHERE c.thread_id = p_thread AND c.namespace = p_namespace AND c.checkpoint_id = p_id
  );
  IF fenced THEN
    RETURN;
  END IF;

  ambiguous := '{}';
  FOR i IN 0 .. jsonb_array_length(p_carried) - 1 LOOP
    item := p_carried->i;
    IF parent->(item->>'channel')->>0 = item->>'version' THEN
      cells := cells || jsonb_build_object(item->>'channel', parent->(item->>'channel'));
      CONTINUE;
    END IF;
    SELECT max(id), count(*) INTO value_id, candidates FROM {channel_values}
    WHERE thread_id = p_thread AND namespace = p_namespace AND channel = item->>'channel' AND version = item->>'version';
    IF candidates > 1 AND NOT p_latest THEN
      ambiguous := ambiguous || i;
    END IF;
    cells := cells || jsonb_build_object(item->>'channel', jsonb_build_array(item->>'version', value_id));
  END LOOP;
  IF cardinality(ambiguous) > 0 THEN
    RETURN;
  END IF;

  FOR i IN 0 .. jsonb_array_length(p_changed) - 1 LOOP
    item := p_changed->i;
    value_id := NULL;
    IF item->>'type' IS NOT NULL THEN
      INSERT INTO {channel_values} (thread_id, namespace, channel, version, type, data)
      VALUES (
        p_thread, p_namespace, item->>'channel', item->>'version', item->>'type',
        substr(p_data, taken, (item->>'bytes')::integer)
      ) RETURNING id INTO value_id;
      taken := taken + (item->>'bytes')::integer;
    END IF;
    cells := cells || jsonb_build_object(item->>'channel', jsonb_build_array(item->>'version', value_id));
  END LOOP;

  SELECT c.checkpoint_id, c.sort_key INTO newest_id, newest_key FROM {checkpoints} AS c
  WHERE c.thread_id = p_thread AND c.namespace = p_namespace
  ORDER BY coalesce(c.sort_key, c.checkpoint_id) DESC LIMIT 1;
  IF p_id <= coalesce(newest_key, newest_id) COLLATE "C" THEN
    own_key := CASE WHEN newest_key IS NULL THEN newest_id || '~00000001'
      ELSE left(newest_key, -(length(newest_id) + 9)) || lpad(
        (substr(newest_key, length(newest_key) - length(newest_id) - 8, 8)::integer + 1)::text, 8, '0'
      ) END || '~' || p_id;
  END IF;

  INSERT INTO {checkpoints} (
    thread_id, namespace, checkpoint_id, sort_key, parent_id, names, cells, type, body, metadata_type, metadata
  ) VALUES (
    p_thread, p_namespace, p_id, own_key, p_parent, p_names, cells, p_head->>'type', body, p_head->>'metadataType', metadata
  ) ON CONFLICT (thread_id, namespace, checkpoint_id) DO UPDATE SET
    parent_id = excluded.parent_id, names = excluded.names, cells = excluded.cells, type = excluded.type,
    body = excluded.body, metadata_type = excluded.metadata_type, metadata = excluded.metadata;
END
$body$;

CREATE OR REPLACE FUNCTION {put_writes}(
  p_fence text, p_token bigint, p_thread text, p_namespace text, p_id text, p_task text, p_names text,
  p_writes jsonb, p_data bytea,
  OUT fenced boolean
) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  item jsonb;
  taken integer := 1;
BEGIN
  fenced := p_fence IS NOT NULL AND NOT {held}(p_fence, p_token);
  IF fenced THEN
    RETURN;
  END IF;
  FOR i IN 0 .. jsonb_array_length(p_writes) - 1 LOOP
    item := p_writes->i;
    INSERT INTO {writes} AS w (thread_id, namespace, checkpoint_id, task_id, place, names, channel, type, data)
    VALUES (
      p_thread, p_namespace, p_id, p_task, (item->>'place')::integer, p_names, item->>'channel', item->>'type',
      substr(p_data, taken, (item->>'bytes')::integer)
    ) ON CONFLICT (thread_id, namespace, checkpoint_id, task_id, place) DO UPDATE SET
      channel = excluded.channel, type = excluded.type, data = excluded.data
      WHERE w.place < 0;
    taken := taken + (item->>'bytes')::integer;
  END LOOP;
END
$body$;

CREATE OR REPLACE FUNCTION {load}(
  p_addresses jsonb,
  OUT kind text, OUT at bigint, OUT about text, OUT type text, OUT data text, OUT metadata text
) RETURNS SETOF record LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_column
BEGIN
  -- Each LATERAL keeps the planner to one look into the index for each address, value and checkpoint.
  RETURN QUERY WITH wanted AS MATERIALIZED (
    SELECT a.at, c.*
    FROM jsonb_array_elements(p_addresses) WITH ORDINALITY AS a(address, at)
    CROSS JOIN LATERAL (
      SELECT * FROM {checkpoints}
      WHERE thread_id = a.address->>0 AND namespace = a.address->>1 AND checkpoint_id = coalesce(
        a.address->>2, ${newestId('a.address->>0', 'a.address->>1')}
      )
      OFFSET 0
    ) AS c
  )
  SELECT
    'checkpoint', w.at,
    jsonb_build_array(
      w.thread_id, w.namespace, w.checkpoint_id, w.parent_id, w.names, w.cells, w.metadata_type
    )::text,
    w.type, encode(w.body, 'hex'), encode(w.metadata, 'hex')
  FROM wanted AS w
  UNION ALL
  SELECT 'value', v.id, NULL, v.type, encode(v.data, 'hex'), NULL
  FROM (SELECT DISTINCT (cell->>1)::bigint AS id FROM wanted AS w, jsonb_each(w.cells) AS c(channel, cell)) AS cells
  CROSS JOIN LATERAL (SELECT * FROM {channel_values} WHERE id = cells.id OFFSET 0) AS v
  UNION ALL
  SELECT
    'write', w.at, ${aboutWrite('r')}, r.type, encode(r.data, 'hex'), NULL
  FROM wanted AS w CROSS JOIN LATERAL (
    SELECT * FROM {writes}
    WHERE thread_id = w.thread_id AND namespace = w.namespace AND checkpoint_id = w.checkpoint_id
    OFFSET 0
  ) AS r;
END
$body$;
`

/** Whether the lease is lost: `fenced`, as the functions return it. */
const FENCE = `fence AS MATERIALIZED (
    SELECT $1::text IS NOT NULL AND NOT {held}($1, $2) AS fenced
  )`

const deletion = (table: string) => `(DELETE FROM {${table}} USING fence WHERE NOT fenced AND thread_id = $3)`

export const DELETE_THREAD = `WITH ${FENCE}, c AS ${deletion('checkpoints')},
  v AS ${deletion('channel_values')}, w AS ${deletion('writes')}
  SELECT fenced FROM fence`

/**
 * The state of the namespaces at the start of the statement decides what is deleted: `asked` has the
 * namespaces without a newer checkpoint.
 */
export const KEEP_ONLY = `WITH ${FENCE}, asked AS MATERIALIZED (
    SELECT item->>0 AS namespace, item->>1 AS newest, item->2 AS staying
    FROM fence, jsonb_array_elements($4::jsonb) AS item
    WHERE NOT fenced AND item->>1 = ${newestId('$3', 'item->>0')}
  ), used AS MATERIALIZED (
    SELECT DISTINCT (cell->>1)::bigint AS id
    FROM asked JOIN {checkpoints} AS c ON c.thread_id = $3 AND c.namespace = asked.namespace
      AND asked.staying ? c.checkpoint_id,
      jsonb_each(c.cells) AS cells(channel, cell)
    WHERE cell->>1 IS NOT NULL
  ), checkpoints_gone AS (
    DELETE FROM {checkpoints} AS c USING asked
    WHERE c.thread_id = $3 AND c.namespace = asked.namespace AND NOT asked.staying ? c.checkpoint_id
  ), values_gone AS (
    DELETE FROM {channel_values} AS v USING asked
    WHERE v.thread_id = $3 AND v.namespace = asked.namespace AND v.id NOT IN (SELECT id FROM used)
  ), writes_gone AS (
    -- Writes may come before their checkpoint.
    DELETE FROM {writes} AS w USING asked
    WHERE w.thread_id = $3 AND w.namespace = asked.namespace
      AND NOT asked.staying ? w.checkpoint_id AND (w.checkpoint_id <= asked.newest OR EXISTS (
        SELECT FROM {checkpoints} AS c
        WHERE c.thread_id = $3 AND c.namespace = w.namespace AND c.checkpoint_id = w.checkpoint_id
      ))
  )
  SELECT fenced FROM fence`

export const ANCESTORS = `WITH RECURSIVE line AS (
    SELECT 1 AS depth, * FROM {checkpoints}
    WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = coalesce($3, ${newestId('$1', '$2')})
    UNION ALL
    SELECT line.depth + 1, c.* FROM line CROSS JOIN LATERAL (
      SELECT * FROM {checkpoints}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.parent_id
      OFFSET 0
    ) AS c
    WHERE line.depth < $4
  )
  SELECT 'checkpoint' AS kind, depth, jsonb_build_array(checkpoint_id, parent_id, names, cells)::text AS about,
    NULL AS type, NULL AS data
  FROM line
  UNION ALL
  SELECT 'write', depth, ${aboutWrite('w')}, w.type, encode(data, 'hex')
  FROM line CROSS JOIN LATERAL (
    SELECT * FROM {writes}
    WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.checkpoint_id AND channel = ANY ($5::text[])
    OFFSET 0
  ) AS w`
