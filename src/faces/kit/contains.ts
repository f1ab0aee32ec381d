import { HttpError } from '../../core/http/index.ts'

/** The maximum of comparisons in one search, which take about 50 ms. */
const MAX_COMPARED = 1_000_000

type Check = (whole: unknown) => boolean

/**
 * A check of JSON containment: for every key of `part`, the whole has a value that contains its value; every
 * item of a list is contained in some item of the other list; all other values are equal. Throws `HttpError`
 * 400 when its calls together exceed the comparison limit, because lists of objects are compared pairwise.
 */
export function containing(part: unknown): Check {
  let compared = 0
  const count = (values: number) => {
    compared += values
    if (compared <= MAX_COMPARED) return
    const message = `The search compares more than ${MAX_COMPARED} values: look for fewer keys or shorter lists.`
    throw new HttpError(400, 'invalid_argument', message)
  }
  const checkOf = (part: unknown): Check => {
    if (Array.isArray(part)) return listCheck(part)
    if (!isObject(part)) return (whole) => whole === part
    const fields = Object.entries(part).map(([key, value]) => [key, checkOf(value)] as const)
    return (whole) => {
      if (!isObject(whole) || Array.isArray(whole)) return false
      return fields.every(([key, check]) => {
        count(1)
        return Object.hasOwn(whole, key) && check(whole[key])
      })
    }
  }
  const listCheck = (part: readonly unknown[]): Check => {
    const plain = [...new Set(part.filter((item) => !isObject(item)))]
    const checks = part.filter(isObject).map(checkOf)
    return (whole) => {
      if (!Array.isArray(whole)) return false
      count(whole.length)
      const items = new Set<unknown>(plain.length > 0 ? whole : [])
      return (
        plain.every((item) => items.has(item)) &&
        checks.every((check) =>
          whole.some((item) => {
            count(1)
            return check(item)
          }),
        )
      )
    }
  }
  return checkOf(part)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
