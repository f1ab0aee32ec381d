import type * as z from 'zod/mini'
import type { AnyObject } from '../api/route.ts'
import { notesOf } from '../wire/common.ts'
import { type Camel, camel } from '../wire/names.ts'

/** Milliseconds since 1970 in the API's format. */
export const isoTime = (at: number): string => new Date(at).toISOString()

/**
 * A record in the API's format, with only the schema's members. Numbers become times if the schema says so,
 * and missing values are null.
 */
export const present = <S extends AnyObject>(
  schema: S,
  record: { readonly [Name in keyof z.output<S> as Camel<Name>]: unknown },
): z.output<S> =>
  Object.fromEntries(
    Object.entries(schema._zod.def.shape).map(([name, member]) => {
      const value = (record as Readonly<Record<string, unknown>>)[camel(name)] ?? null
      return [
        name,
        notesOf(member).format === 'date-time' && typeof value === 'number' ? isoTime(value) : value,
      ]
    }),
  ) as z.output<S>
