import { AgentwireError } from '../../core/errors.ts'

export type Names = ReturnType<typeof createNames>

const SCHEMA = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
/** Leaves room for the names of indexes within Postgres's 63 bytes. */
const PREFIX = /^[a-z_][a-z0-9_]{0,30}$/

/** The names of the tables and functions of one installation. */
export function createNames(schema: string | undefined, prefix: string) {
  if (schema !== undefined && !SCHEMA.test(schema)) {
    throw new AgentwireError(
      'invalid_argument',
      'The schema of postgresStorage must be a plain identifier of at most 63 characters.',
    )
  }
  if (!PREFIX.test(prefix)) {
    throw new AgentwireError(
      'invalid_argument',
      'The prefix of postgresStorage must be lower-case letters, digits and underscores, at most 31 of them.',
    )
  }
  const qualifier = schema === undefined ? '' : `"${schema}".`
  const of = (name: string) => `${qualifier}"${prefix}${name}"`
  return {
    schema,
    prefix,
    /** `"schema"."prefix_name"`, or without the schema if `search_path` decides. */
    of,
    /** Replaces the names in braces: `{documents}` becomes the table with that name. */
    fill: (text: string): string => text.replace(/\{(\w+)\}/g, (_, name: string) => of(name)),
    /** The notification channel. Schemas share it, because an extra notification is harmless. */
    channel: `${prefix}changes`,
  }
}
