import type { Fields } from '../record.ts'

/** Field names in the normal form, mapped to their names on the wire. */
export type WireNames = Readonly<Record<string, string>>

/** The fields of `names` that are not undefined, under their wire names. */
export function toWire(fields: object, names: WireNames): Record<string, unknown> {
  const wire: Record<string, unknown> = {}
  for (const name in names) {
    const value = (fields as Record<string, unknown>)[name]
    if (value !== undefined) wire[names[name]!] = value
  }
  return wire
}

/**
 * The fields of `names` that are present on the wire. By default, `read` also accepts the names of the normal
 * form.
 */
export function fromWire(
  wire: Fields,
  names: WireNames,
  read: (value: unknown, named: unknown) => unknown = (value, named) => value ?? named,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const name in names) {
    const value = read(wire[names[name]!], wire[name])
    if (value !== undefined) fields[name] = value
  }
  return fields
}

/** The type of a message from its LangChain class path, the `id` of a constructor envelope. */
export function typeOfClass(path: unknown): string | undefined {
  if (!Array.isArray(path)) return undefined
  const match = /^(Human|AI|System|Tool|Function|Remove)Message(Chunk)?$/.exec(String(path.at(-1)))
  return match?.[1]?.toLowerCase()
}
