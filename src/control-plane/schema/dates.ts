import { accept, type Outcome, refuse } from './problem.ts'

const MESSAGE = 'Input should be a valid datetime'
const EXPECTED = 'expected RFC 3339 or a Unix timestamp, in the years 1 to 9999'
/** Larger numbers are milliseconds, others seconds. */
const WATERSHED = 20_000_000_000
/** In milliseconds. */
const YEAR_1 = -62_135_596_800_000
const YEAR_10000 = 253_402_300_800_000
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+\-\u2212])(\d\d):?(\d\d))?)?$/
const NUMBER = /^[+-]?\d+(?:\.\d*)?$/

/**
 * RFC 3339, also without an offset (UTC) or a time (midnight), or a Unix timestamp. Returns RFC 3339 in UTC.
 */
export function checkDateTime(value: unknown): Outcome {
  if (typeof value !== 'string' && typeof value !== 'number') return refuse('datetime_type', MESSAGE)
  const time = typeof value === 'number' ? fromTimestamp(value) : timeOf(value)
  if (time >= YEAR_1 && time < YEAR_10000) return accept(new Date(time).toISOString())
  const [type, or] =
    typeof value === 'number' ? ['datetime_parsing', ''] : ['datetime_from_date_parsing', ' or date']
  return refuse(type, `${MESSAGE}${or}, ${EXPECTED}`, { error: EXPECTED })
}

const fromTimestamp = (timestamp: number): number =>
  Math.floor(Math.abs(timestamp) > WATERSHED ? timestamp : timestamp * 1_000)

/** NaN for any other text. */
function timeOf(text: string): number {
  if (NUMBER.test(text)) return fromTimestamp(Number(text))
  const [, date = '', time = '00:00', seconds = '00', fraction = '', sign, hours = '00', minutes = '00'] =
    DATE_TIME.exec(text) ?? []
  if (!isDay(date) || time > '23:59' || time.slice(3) > '59' || seconds > '59') return Number.NaN
  if (hours > '23' || minutes > '59') return Number.NaN
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  const local = Date.parse(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  return sign === '+' ? local - offset : local + offset
}

/** A day that its month lacks would become a day of the next month. */
function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date)
}
