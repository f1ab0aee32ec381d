import { accept, type Outcome, refuse } from './outcome.ts'

const MESSAGE = 'Input should be a valid datetime'
/** Numbers beyond it are milliseconds, others seconds. */
const WATERSHED = 20_000_000_000
/** In milliseconds. */
const YEAR_0 = -62_167_219_200_000
const YEAR_1 = -62_135_596_800_000
const YEAR_10000 = 253_402_300_800_000
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+\-\u2212])(\d\d):?(\d\d))?)?$/
const NUMBER = /^[+-]?\d+(?:\.\d*)?$/

/** RFC 3339, also without an offset (UTC) or a time (midnight), or a Unix timestamp. It becomes RFC 3339 in UTC with milliseconds. */
export function checkDateTime(value: unknown): Outcome {
  if (typeof value === 'number') return fromTimestamp(value, 'datetime_parsing', MESSAGE)
  if (typeof value !== 'string') return refuse('datetime_type', MESSAGE)
  const type = 'datetime_from_date_parsing'
  const message = `${MESSAGE} or date`
  const time = timeOf(value)
  if (time !== undefined) return fromTime(time, type, message)
  if (NUMBER.test(value)) return fromTimestamp(Number(value), type, message)
  const error = faultOf(value)
  return refuse(type, `${message}, ${error}`, { error })
}

function timeOf(text: string): number | undefined {
  const [, date, time = '00:00', seconds = '00', fraction = '', , sign, hours = '00', minutes = '00'] =
    DATE_TIME.exec(text) ?? []
  if (date === undefined || dayFault(date) !== undefined) return undefined
  if (time > '23:59' || time.slice(3) > '59' || seconds > '59' || hours > '23' || minutes > '59')
    return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  const local = Date.parse(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  return sign === undefined ? local : sign === '+' ? local - offset : local + offset
}

const fromTimestamp = (timestamp: number, type: string, message: string): Outcome =>
  fromTime(Math.floor(Math.abs(timestamp) > WATERSHED ? timestamp : timestamp * 1_000), type, message)

function fromTime(time: number, type: string, message: string): Outcome {
  if (time >= YEAR_1 && time < YEAR_10000) return accept(new Date(time).toISOString())
  if (time >= YEAR_0 && time < YEAR_1) {
    const error = 'year 0 is out of range'
    return refuse('datetime_parsing', `${MESSAGE}, ${error}`, { error })
  }
  const error = `dates ${time < 0 ? 'before 0000' : 'after 9999'} are not supported as unix timestamps`
  return refuse(type, `${message}, ${error}`, { error })
}

/** What is wrong with it as a date: Pydantic tries one last, and tells of that. Positions are in bytes. */
function faultOf(text: string): string {
  const bytes = [...new TextEncoder().encode(text.slice(0, 11))].map((byte) => String.fromCharCode(byte))
  if (bytes.length < 10) return 'input is too short'
  for (const [at, place] of [...'YYYY-MM-DD'].entries()) {
    const isRight = place === '-' ? bytes[at] === '-' : /\d/.test(bytes[at]!)
    if (!isRight) return PLACES[place]!
  }
  return dayFault(text.slice(0, 10)) ?? 'unexpected extra characters at the end of the input'
}

const PLACES: Readonly<Record<string, string>> = {
  Y: 'invalid character in year',
  M: 'invalid character in month',
  D: 'invalid character in day',
  '-': 'invalid date separator, expected `-`',
}

function dayFault(date: string): string | undefined {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  if (month < 1 || month > 12) return 'month value is outside expected range of 1-12'
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day < 1 || day > days ? 'day value is outside expected range' : undefined
}
