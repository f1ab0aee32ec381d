import type { DocumentSchema } from '../../sql/list-documents.ts'
import type { Doc } from '../../store/store.ts'
import type { Row } from '../database.ts'
import type { Names } from '../names.ts'
import { keyOf, readNames } from '../text.ts'
import { placeOf } from './change.ts'
import { NOW_ONCE } from './sql-store.ts'

export function documentSchema({ of }: Names): DocumentSchema<string> {
  return {
    documents: of('documents'),
    fields: of('fields'),
    columns: 'd.partition, d.id, d.names, d.version, d.value, d.fields',
    nameOf: keyOf,
    now: () => ({ text: NOW_ONCE, values: [] }),
    belongs: (alias) => `${alias}.document = d.key`,
    keys: ['num', 'str'],
    keysOf: (value) => placeOf(value).map(String),
    ordersByMatch: false,
  }
}

/** A row with `partition, id, names, version, value, fields`. */
export function toDoc(row: Row): Doc {
  const [partition, id] = readNames(row.names!, row.partition!, row.id!)
  return {
    partition,
    id,
    value: JSON.parse(row.value!),
    version: Number(row.version),
    index: JSON.parse(row.fields!),
  }
}
