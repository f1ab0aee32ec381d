import type { DocumentSchema } from '../../sql/list-documents.ts'
import type { Doc } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Row, SqliteValue } from '../driver.ts'

/** A value of an index field as the column `key` keeps it. */
export function toKey(value: string | number): string | number {
  return typeof value === 'number' ? value : toText(value)
}

export function documentSchema(of: (table: string) => string): DocumentSchema<SqliteValue> {
  return {
    documents: of('documents'),
    fields: of('fields'),
    columns: 'd.partition, d.id, d.version, d.fields, d.value',
    nameOf: toText,
    now: () => ({ text: '?', values: [Date.now()] }),
    belongs: (alias) => `${alias}.partition = d.partition AND ${alias}.id = d.id`,
    keys: ['key'],
    keysOf: (value) => [toKey(value)],
    ordersByMatch: true,
  }
}

/** A row with `partition, id, version, fields, value`. */
export function toDoc(row: Row): Doc {
  return {
    partition: fromText(row.partition as string),
    id: fromText(row.id as string),
    value: JSON.parse(row.value as string),
    version: Number(row.version),
    index: JSON.parse(row.fields as string),
  }
}
