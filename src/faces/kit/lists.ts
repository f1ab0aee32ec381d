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
