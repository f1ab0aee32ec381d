export { type Fields, isRecord } from '../core/record.ts'

/** The items of a list; empty for any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function filterFields<Value>(
  fields: Readonly<Record<string, Value>>,
  isKept: (key: string, value: Value) => boolean,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => isKept(key, value)))
}

/** The fields that are not undefined. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const given: { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } = {}
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined) given[key] = value as Exclude<Fields[typeof key], undefined>
  }
  return given
}

export function nonEmpty<Fields extends object>(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key as never], b[key as never]))
  )
}
