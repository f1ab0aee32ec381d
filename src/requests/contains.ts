/**
 * JSON containment: every key of `part` is in `whole` with a value that contains its own, every item of a list is contained
 * in some item of the other, and all else is equal.
 */
export function contains(whole: unknown, part: unknown): boolean {
  if (!isObject(part) || !isObject(whole)) return whole === part
  if (Array.isArray(part) !== Array.isArray(whole)) return false
  if (Array.isArray(part) && Array.isArray(whole))
    return part.every((item) => whole.some((other) => contains(other, item)))
  return Object.entries(part).every(
    ([key, value]) => Object.hasOwn(whole, key) && contains(whole[key], value),
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
