import { type Call, HttpError } from '../../core/http/index.ts'
import { eventLoopTurns } from '../../core/time.ts'

/** A whole number from 0 to `max` in the query string. Throws `HttpError` 400. */
export function numberParam(call: Call, name: string, fallback: number, max: number): number {
  const text = call.url.searchParams.get(name)
  if (text === null || text === '') return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new HttpError(400, 'invalid_argument', `${name}: expected a whole number from 0 to ${max}.`)
}

/** Whether a flag in the query string is set. */
export const isSet = ({ url }: Call, name: string): boolean =>
  ['1', 'true'].includes(url.searchParams.get(name) ?? '')

/** Maps items in order, `atOnce` of them at a time. The event loop turns between them. */
export async function* mapSome<T, R>(
  items: readonly T[],
  atOnce: number,
  change: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const turn = eventLoopTurns()
  for (let at = 0; at < items.length; at += atOnce) {
    yield* await Promise.all(items.slice(at, at + atOnce).map(change))
    await turn()
  }
}

/** The names of the headers of a page. */
export const PAGE_HEADERS = ['x-pagination-next', 'x-pagination-total'] as const

/** The headers of a page: the total count, and the offset of the next page if there is one. */
export const pageHeaders = (total: number, next: number): Record<string, string> => ({
  'x-pagination-total': String(total),
  ...(total > next && { 'x-pagination-next': String(next) }),
})

/** The selected fields of a record, or all of them. */
export const withFields = <T extends object>(record: T, fields: readonly string[] | undefined): Partial<T> =>
  fields
    ? (Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field))) as Partial<T>)
    : record

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
