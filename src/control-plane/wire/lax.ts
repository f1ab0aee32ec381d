/** Why a value is refused. */
export interface Fault {
  /** Such as `missing` or `int_parsing`. */
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** What a scalar of the API is, in the keywords of OpenAPI 3.1 (JSON Schema 2020-12). */
export interface Scalar {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  /** The value of a `password` is never shown in an error. */
  readonly format?: 'uuid' | 'date-time' | 'password'
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression that the text must match. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** A value after reading, or why it cannot be read. */
type Outcome = { readonly value: unknown; readonly fault?: undefined } | { readonly fault: Fault }

const accept = (value: unknown): Outcome => ({ value })

const refuse = (type: string, msg: string, ctx?: Fault['ctx']): Outcome => ({
  fault: { type, msg, ...(ctx && { ctx }) },
})

/** Reads a JSON value, or a string of a query, as Pydantic 2 does in lax mode: with its conversions and its words. */
export function readScalar(scalar: Scalar, value: unknown): Outcome {
  if (scalar.format === 'uuid') return readUuid(value)
  if (scalar.format === 'date-time') return readDateTime(value)
  if (scalar.type === 'string') return readText(scalar, value)
  if (scalar.type === 'integer') return readInteger(scalar, value)
  return scalar.type === 'number' ? readNumber(scalar, value) : readBoolean(value)
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

/** The length is counted in characters, not in UTF-16 units. */
function readText(scalar: Scalar, value: unknown): Outcome {
  const message = 'Input should be a valid string'
  if (typeof value !== 'string') return refuse('string_type', message)
  if (/\p{Surrogate}/u.test(value))
    return refuse('string_unicode', `${message}, unable to parse raw data as a unicode string`)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = scalar
  // Most texts are accepted or rejected without counting: a character is one or two units.
  if (value.length > maxLength && countOf(value) > maxLength) {
    return refuse('string_too_long', `String should have at most ${plural(maxLength, 'character')}`, {
      max_length: maxLength,
    })
  }
  if (value.length < minLength * 2 && countOf(value) < minLength) {
    return refuse('string_too_short', `String should have at least ${plural(minLength, 'character')}`, {
      min_length: minLength,
    })
  }
  const { pattern } = scalar
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    return refuse('string_pattern_mismatch', `String should match pattern '${pattern}'`, { pattern })
  }
  return accept(value)
}

function countOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * A UUID with or without hyphens; with them, also in braces or as a URN. The result is in lower case with
 * hyphens.
 */
function readUuid(value: unknown): Outcome {
  if (typeof value !== 'string')
    return refuse('uuid_type', 'UUID input should be a string, bytes or UUID object')
  const [, braced = value] = /^\{(.{36})\}$/.exec(value) ?? /^urn:uuid:(.{36})$/.exec(value) ?? []
  const groups = /^([\da-f]{8})(-?)([\da-f]{4})\2([\da-f]{4})\2([\da-f]{4})\2([\da-f]{12})$/i.exec(braced)
  if (groups)
    return accept(
      [1, 3, 4, 5, 6]
        .map((group) => groups[group])
        .join('-')
        .toLowerCase(),
    )
  const error = 'expected 32 hexadecimal digits'
  return refuse('uuid_parsing', `Input should be a valid UUID, ${error}`, { error })
}

const INTEGER = 'Input should be a valid integer'
const NUMBER = 'Input should be a valid number'
const BOOLEAN = 'Input should be a valid boolean'

const WHOLE = /^[+-]?\d+(?:\.0+)?$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

function readInteger(scalar: Scalar, value: unknown): Outcome {
  const number = numberOf(value, WHOLE)
  if (number === null) return refuse('int_parsing', `${INTEGER}, unable to parse string as an integer`)
  if (number === undefined) return refuse('int_type', INTEGER)
  if (!Number.isFinite(number)) return NOT_FINITE
  if (!Number.isInteger(number))
    return refuse('int_from_float', `${INTEGER}, got a number with a fractional part`)
  const checked = within(scalar, number === 0 ? 0 : number)
  // An integer that JavaScript cannot represent is rejected instead of rounded.
  return checked.fault || Number.isSafeInteger(number) ? checked : TOO_LARGE
}

function readNumber(scalar: Scalar, value: unknown): Outcome {
  const number = numberOf(value, DECIMAL)
  if (number === null) return refuse('float_parsing', `${NUMBER}, unable to parse string as a number`)
  if (number === undefined) return refuse('float_type', NUMBER)
  // JSON has no other numbers, so none could be stored or returned.
  return Number.isFinite(number) ? within(scalar, number) : NOT_FINITE
}

function readBoolean(value: unknown): Outcome {
  if (typeof value === 'boolean') return accept(value)
  if (typeof value !== 'string' && typeof value !== 'number') return refuse('bool_type', BOOLEAN)
  const word = String(value).toLowerCase()
  if (TRUE.includes(word)) return accept(true)
  if (FALSE.includes(word)) return accept(false)
  return refuse('bool_parsing', `${BOOLEAN}, unable to interpret input`)
}

const TRUE = ['1', 't', 'y', 'on', 'yes', 'true']
const FALSE = ['0', 'f', 'n', 'no', 'off', 'false']

/** Null for text that cannot be parsed, and undefined for other types. */
function numberOf(value: unknown, pattern: RegExp): number | null | undefined {
  if (typeof value === 'string') {
    const text = withoutUnderscores(value.trim())
    return pattern.test(text) ? Number(text) : null
  }
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : undefined
}

/** Python's numbers may have single underscores between digits. */
const withoutUnderscores = (text: string): string => text.replace(/(?<=\d)_(?=\d)/g, '')

function within({ minimum, maximum }: Scalar, value: number): Outcome {
  const message = 'Input should be'
  if (maximum !== undefined && value > maximum) {
    return refuse('less_than_equal', `${message} less than or equal to ${maximum}`, { le: maximum })
  }
  if (minimum !== undefined && value < minimum) {
    return refuse('greater_than_equal', `${message} greater than or equal to ${minimum}`, { ge: minimum })
  }
  return accept(value)
}

const NOT_FINITE = refuse('finite_number', 'Input should be a finite number')
const TOO_LARGE = refuse(
  'int_parsing_size',
  'Unable to parse input string as an integer, exceeded maximum size',
)

const DATE_TIME_MESSAGE = 'Input should be a valid datetime'
const DATE_TIME_EXPECTED = 'expected RFC 3339 or a Unix timestamp, in the years 1 to 9999'
/** Larger numbers are milliseconds, others seconds. */
const WATERSHED = 20_000_000_000
/** In milliseconds. */
const YEAR_1 = -62_135_596_800_000
const YEAR_10000 = 253_402_300_800_000
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+\-\u2212])(\d\d):?(\d\d))?)?$/
const TIMESTAMP = /^[+-]?\d+(?:\.\d*)?$/

/**
 * RFC 3339, also without an offset (UTC) or a time (midnight), or a Unix timestamp. Returns RFC 3339 in UTC.
 */
function readDateTime(value: unknown): Outcome {
  if (typeof value !== 'string' && typeof value !== 'number')
    return refuse('datetime_type', DATE_TIME_MESSAGE)
  const time = typeof value === 'number' ? fromTimestamp(value) : timeOf(value)
  if (time >= YEAR_1 && time < YEAR_10000) return accept(new Date(time).toISOString())
  const [type, or] =
    typeof value === 'number' ? ['datetime_parsing', ''] : ['datetime_from_date_parsing', ' or date']
  return refuse(type, `${DATE_TIME_MESSAGE}${or}, ${DATE_TIME_EXPECTED}`, { error: DATE_TIME_EXPECTED })
}

const fromTimestamp = (timestamp: number): number =>
  Math.floor(Math.abs(timestamp) > WATERSHED ? timestamp : timestamp * 1_000)

/** NaN for any other text. */
function timeOf(text: string): number {
  if (TIMESTAMP.test(text)) return fromTimestamp(Number(text))
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
