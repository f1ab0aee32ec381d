import { NOW } from './sql-store.ts'

/**
 * One commit. It locks the partition's row, which serializes commits of a partition. It checks everything,
 * then writes, or returns the guard or op that failed, its index and the value found.
 */
export const COMMIT_FUNCTION = `
CREATE OR REPLACE FUNCTION {commit}(
  p_partition text, p_names text, p_guards jsonb, p_ops jsonb, p_data bytea,
  OUT refused text, OUT place integer, OUT seen bigint, OUT head bigint, OUT versions bigint[]
) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  part {partitions};
  known boolean;
  holds boolean;
  now_ms bigint;
  item jsonb;
  chunk jsonb;
  held bigint;
  issued bigint;
  document_key bigint;
  found_fields text;
  taken integer := 1;
BEGIN
  LOOP
    SELECT * INTO part FROM {partitions} WHERE partition = p_partition FOR NO KEY UPDATE;
    known := FOUND;
    IF NOT known THEN
      part.head := 0;
      part.first_retained := 1;
      part.bytes := 0;
      part.token := 0;
      part.version := 0;
    END IF;
    now_ms := ${NOW};

    FOR i IN 0 .. jsonb_array_length(p_guards) - 1 LOOP
      item := p_guards->i;
      place := i;
      seen := NULL;
      CASE item->>'guard'
      WHEN 'fence' THEN
        holds := part.lease_token IS NOT DISTINCT FROM (item->>'token')::numeric AND part.lease_until > now_ms;
      WHEN 'head' THEN
        seen := part.head;
        holds := seen IS NOT DISTINCT FROM (item->>'seq')::numeric;
      WHEN 'free' THEN
        holds := part.lease_until IS NULL OR part.lease_until <= now_ms;
      ELSE
        SELECT version INTO seen FROM {documents}
        WHERE partition = p_partition AND collection = item->>'collection' AND id = item->>'id'
          AND (expires_at IS NULL OR expires_at > now_ms);
        holds := seen IS NOT DISTINCT FROM (item->>'version')::numeric;
      END CASE;
      IF NOT holds THEN
        refused := 'guard';
        RETURN;
      END IF;
    END LOOP;

    held := part.lease_token;
    issued := part.token;
    FOR i IN 0 .. jsonb_array_length(p_ops) - 1 LOOP
      item := p_ops->i;
      place := i;
      seen := issued;
      holds := true;
      CASE item->>'op'
      WHEN 'claim' THEN
        holds := (item->>'token')::bigint > issued;
        issued := (item->>'token')::bigint;
        held := issued;
      WHEN 'renew' THEN
        holds := held IS NOT DISTINCT FROM (item->>'token')::numeric;
      WHEN 'release' THEN
        IF held = (item->>'token')::numeric THEN
          held := NULL;
        END IF;
      WHEN 'clear' THEN
        held := NULL;
      ELSE
        NULL;
      END CASE;
      IF NOT holds THEN
        refused := 'op';
        RETURN;
      END IF;
    END LOOP;

    EXIT WHEN known OR jsonb_array_length(p_ops) = 0;
    INSERT INTO {partitions} (partition, names, head, first_retained, bytes, token, version)
    VALUES (p_partition, p_names, 0, 1, 0, 0, 0) ON CONFLICT DO NOTHING;
    -- Another made it meanwhile: look again.
    EXIT WHEN FOUND;
  END LOOP;

  versions := '{}';
  FOR i IN 0 .. jsonb_array_length(p_ops) - 1 LOOP
    item := p_ops->i;
    CASE item->>'op'
    WHEN 'append' THEN
      FOR j IN 0 .. jsonb_array_length(item->'chunks') - 1 LOOP
        chunk := item->'chunks'->j;
        INSERT INTO {events} (partition, first, last, bytes, at, layout, data)
        VALUES (
          p_partition, part.head + 1, part.head + (chunk->>'count')::integer, (chunk->>'bytes')::integer, now_ms,
          chunk->>'layout', substr(p_data, taken, (chunk->>'bytes')::integer)
        );
        part.head := part.head + (chunk->>'count')::integer;
        part.bytes := part.bytes + (chunk->>'bytes')::integer;
        taken := taken + (chunk->>'bytes')::integer;
      END LOOP;
    WHEN 'put' THEN
      part.version := greatest(part.version + 1, now_ms);
      versions := versions || part.version;
      -- Locked, so that a sweep does not take its fields away meanwhile.
      SELECT key, fields INTO document_key, found_fields FROM {documents}
      WHERE partition = p_partition AND collection = item->>'collection' AND id = item->>'id' FOR UPDATE;
      IF FOUND THEN
        UPDATE {documents}
        SET version = part.version, value = item->>'value', fields = item->>'fields',
          expires_at = now_ms + (item->>'ttlMs')::bigint
        WHERE key = document_key;
      ELSE
        found_fields := '{}';
        INSERT INTO {documents} (partition, collection, id, names, version, value, fields, expires_at)
        VALUES (
          p_partition, item->>'collection', item->>'id', item->>'names', part.version, item->>'value',
          item->>'fields', now_ms + (item->>'ttlMs')::bigint
        ) RETURNING key INTO document_key;
      END IF;
      IF found_fields = '{}' THEN
        INSERT INTO {fields} AS f (document, field, num, str, partition, collection, id)
        SELECT document_key, e->>0, (e->>1)::double precision, e->>2, p_partition, item->>'collection', item->>'id'
        FROM jsonb_array_elements(item->'entries') AS e;
      ELSIF found_fields <> item->>'fields' THEN
        -- Field by field: what is counted changes only where a field comes or goes.
        DELETE FROM {fields} AS f WHERE f.document = document_key AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(item->'entries') AS e WHERE e->>0 = f.field
        );
        INSERT INTO {fields} AS f (document, field, num, str, partition, collection, id)
        SELECT document_key, e->>0, (e->>1)::double precision, e->>2, p_partition, item->>'collection', item->>'id'
        FROM jsonb_array_elements(item->'entries') AS e
        ON CONFLICT (document, field) DO UPDATE SET num = excluded.num, str = excluded.str
        WHERE f.num <> excluded.num OR f.str <> excluded.str;
      END IF;
    WHEN 'delete' THEN
      WITH gone AS (
        DELETE FROM {documents}
        WHERE partition = p_partition AND collection = item->>'collection' AND id = item->>'id' RETURNING key
      )
      DELETE FROM {fields} WHERE document IN (SELECT key FROM gone);
    WHEN 'claim' THEN
      part.token := (item->>'token')::bigint;
      part.lease_owner := item->>'owner';
      part.lease_token := part.token;
      part.lease_until := now_ms + (item->>'ttlMs')::bigint;
    WHEN 'renew' THEN
      part.lease_until := now_ms + (item->>'ttlMs')::bigint;
    WHEN 'release' THEN
      IF part.lease_token = (item->>'token')::numeric THEN
        part.lease_owner := NULL;
        part.lease_token := NULL;
        part.lease_until := NULL;
      END IF;
    WHEN 'clear' THEN
      WITH gone AS (DELETE FROM {documents} WHERE partition = p_partition RETURNING key)
      DELETE FROM {fields} WHERE document IN (SELECT key FROM gone);
      DELETE FROM {events} WHERE partition = p_partition;
      part.first_retained := part.head + 1;
      part.bytes := 0;
      part.lease_owner := NULL;
      part.lease_token := NULL;
      part.lease_until := NULL;
    END CASE;
  END LOOP;

  IF jsonb_array_length(p_ops) > 0 THEN
    UPDATE {partitions}
    SET head = part.head, first_retained = part.first_retained, bytes = part.bytes, token = part.token, version = part.version,
      lease_owner = part.lease_owner, lease_token = part.lease_token, lease_until = part.lease_until
    WHERE partition = p_partition;
  END IF;
  head := part.head;
END
$body$;
`

/**
 * Most commits are one append by the lease holder. This function does the same as `commit` and reads less. If
 * a guard fails, nothing is written and the head is null. The clock is read again once the row is locked.
 */
export const APPEND_FUNCTION = `
CREATE OR REPLACE FUNCTION {append}(
  p_partition text, p_fence bigint, p_head bigint, p_count integer, p_layout text, p_data bytea, OUT head bigint
) LANGUAGE plpgsql AS $body$
BEGIN
  UPDATE {partitions} AS p SET head = p.head + p_count, bytes = p.bytes + length(p_data)
  WHERE p.partition = p_partition
    AND p.lease_token = p_fence AND p.lease_until > ${NOW}
    AND (p_head IS NULL OR p.head = p_head)
  RETURNING p.head INTO head;
  IF FOUND THEN
    INSERT INTO {events} (partition, first, last, bytes, at, layout, data)
    VALUES (p_partition, head - p_count + 1, head, length(p_data), ${NOW}, p_layout, p_data);
  END IF;
END
$body$;
`
