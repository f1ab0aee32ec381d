import { AgentwireError } from '../../core/errors.ts'
import { createNames, type Names } from './names.ts'
import { AS_TEXT, type PostgresPoolClient } from './pool.ts'
import { CHECKPOINT_FUNCTIONS, CHECKPOINT_TABLES } from './saver/sql-checkpoints.ts'
import { APPEND_FUNCTION, COMMIT_FUNCTION } from './store/sql-commit.ts'
import { STORE_FUNCTIONS, STORE_TABLES } from './store/sql-store.ts'

/** Applied in order, each once. Never change a released migration: add another. */
export const migrations: readonly ((names: Names) => string)[] = [
  ({ fill }) => fill(STORE_TABLES + CHECKPOINT_TABLES + COUNT_TABLES),
]

/**
 * Created again whenever something is migrated. To change a function, add a migration, which may be empty.
 */
const functions = ({ fill }: Names): string =>
  fill([COMMIT_FUNCTION, APPEND_FUNCTION, STORE_FUNCTIONS, CHECKPOINT_FUNCTIONS].join('\n'))

const OLDEST_SERVER = 130_000

/** Migrates the tables to this library's version. A lock serializes concurrent processes. */
export async function migrate(client: PostgresPoolClient, names: Names): Promise<void> {
  if ((await versionOf(client, names)) === migrations.length) return
  await client.query({ text: 'BEGIN' })
  try {
    await client.query({
      text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`agentwire ${names.of('schema_version')}`],
    })
    await apply(client, names)
    await client.query({ text: 'COMMIT' })
  } catch (error) {
    // The server rolls back itself if the connection is lost.
    await client.query({ text: 'ROLLBACK' }).catch(() => {})
    throw error
  }
}

async function apply(client: PostgresPoolClient, names: Names): Promise<void> {
  const schema = await findSchema(client, names)
  const installed = await versionOf(client, names)
  // Another process has migrated already.
  if (installed === migrations.length) return
  const version = names.of('schema_version')
  if (installed === 0) {
    await client.query({
      text: `CREATE TABLE ${version} (version integer NOT NULL); INSERT INTO ${version} VALUES (0)`,
    })
  }
  // With their schema, so that functions find their tables under any search path.
  const qualified = createNames(schema, names.prefix)
  for (const text of [...migrations.slice(installed), functions])
    await client.query({ text: text(qualified) })
  await client.query({ text: `UPDATE ${version} SET version = $1`, values: [migrations.length] })
}

/** 0 if nothing is installed. */
async function versionOf(client: PostgresPoolClient, names: Names): Promise<number> {
  const server = await one(
    client,
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_encoding') AS encoding,
       to_regclass($1)::text AS installed`,
    [names.of('schema_version')],
  )
  if (Number(server.number) < OLDEST_SERVER) throw unfit('The server must be Postgres 13 or newer.')
  if (server.encoding !== 'UTF8') throw unfit(`The database must be encoded in UTF8, not ${server.encoding}.`)
  if (server.installed === null) return 0
  const { version } = await one(client, `SELECT version FROM ${names.of('schema_version')}`)
  if (Number(version) <= migrations.length) return Number(version)
  throw unfit('A newer version of this library has migrated the database: update this one too.')
}

/** Not CREATE SCHEMA IF NOT EXISTS: that needs the privilege to create a schema even if the schema exists. */
async function findSchema(client: PostgresPoolClient, { schema }: Names): Promise<string> {
  if (schema === undefined) {
    const { current } = await one(client, 'SELECT current_schema() AS current')
    if (current) return current
    throw unfit('No schema in the search_path exists: set the schema option of postgresStorage.')
  }
  const text = 'SELECT count(*) AS known FROM pg_namespace WHERE nspname = $1'
  const { known } = await one(client, text, [schema])
  if (Number(known) === 0) await client.query({ text: `CREATE SCHEMA "${schema}"` })
  return schema
}

async function one(client: PostgresPoolClient, text: string, values: unknown[] = []) {
  return (await client.query({ text, values, types: AS_TEXT })).rows[0] as Record<string, string | null>
}

const unfit = (message: string): AgentwireError => new AgentwireError('unfit_database', message)

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
const COUNT_TABLES = `
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
