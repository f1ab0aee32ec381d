/** An object with fields of any type. */
export type Fields = Readonly<Record<string, unknown>>

/** Neither a list, nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
