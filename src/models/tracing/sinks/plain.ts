import { encodeBase64 } from '../../formats/reading/base64.ts'

/**
 * A deep copy as plain JSON. Bytes become base64, values without a JSON form become text or are left out, and
 * a circular reference becomes `[circular]`.
 */
export function toPlain<Value>(value: Value): Value {
  return copy(value, []) as Value
}

function copy(value: unknown, above: unknown[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return String(value)
    case 'object':
      break
    default:
      return undefined
  }
  if (value === null) return null
  if (value instanceof Uint8Array) return encodeBase64(value)
  if (value instanceof ArrayBuffer) return encodeBase64(new Uint8Array(value))
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (above.includes(value)) return '[circular]'
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    const json = attempt(() => (value as { toJSON(): unknown }).toJSON())
    return json === value ? String(json) : copy(json, [...above, value])
  }
  above.push(value)
  let copied: unknown
  if (Array.isArray(value)) copied = value.map((item) => copy(item, above) ?? null)
  else if (value instanceof Map) copied = copy(Object.fromEntries(value), above)
  else if (value instanceof Set) copied = copy([...value], above)
  else {
    const fields: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const field = copy(
        attempt(() => (value as Record<string, unknown>)[key]),
        above,
      )
      if (field !== undefined && key !== '__proto__') fields[key] = field
    }
    copied = fields
  }
  above.pop()
  return copied
}

/** The result of a getter or `toJSON`, or the text of the error that it throws. */
function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return `[${error instanceof Error ? error.message : String(error)}]`
  }
}
