const trigger = (name: string, event: string, rows: string, n: string) => `
CREATE FUNCTION {${name}}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO {count_changes} SELECT collection, field, ${n} FROM changed GROUP BY collection, field;
  RETURN NULL;
END
$body$;
CREATE TRIGGER counted_${event.toLowerCase()} AFTER ${event} ON {fields}
REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {${name}}();
`

/**
 * The number of documents with a field: the `counts` row plus the `count_changes` rows. Triggers add a row
 * for each change, because commits that update the same row would wait for each other. `fold_counts` adds
 * them up.
 */
export const COUNT_TABLES = `
CREATE TABLE {counts} (
  collection text COLLATE "C" NOT NULL,
  field text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (collection, field)
);
CREATE INDEX ON {counts} (n) WHERE n = 0;

CREATE TABLE {count_changes} (
  collection text COLLATE "C" NOT NULL,
  field text COLLATE "C" NOT NULL,
  n bigint NOT NULL
);
CREATE INDEX ON {count_changes} (collection, field);
${trigger('count_added', 'INSERT', 'NEW', 'count(*)')}
${trigger('count_removed', 'DELETE', 'OLD', '-count(*)')}

CREATE FUNCTION {fold_counts}() RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('agentwire fold {counts}', 0)) THEN
    RETURN;
  END IF;
  WITH gone AS (DELETE FROM {count_changes} RETURNING collection, field, n)
  INSERT INTO {counts} AS c SELECT collection, field, sum(n) FROM gone GROUP BY collection, field
  ON CONFLICT (collection, field) DO UPDATE SET n = c.n + excluded.n;
  DELETE FROM {counts} WHERE n = 0;
END
$body$;
`
