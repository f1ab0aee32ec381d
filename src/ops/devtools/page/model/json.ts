/** A value of JSON. Only what the page reads is unknown: what it makes has types. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A field of anything, undefined where it has none. */
export const fieldOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** JSON that somebody typed: its value, or what is wrong with it in words. */
export function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` }
  }
}

/** A value on one line, cut where it becomes long. */
export function brief(value: unknown, length = 160): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return text.length > length ? `${text.slice(0, length)}…` : text
}
