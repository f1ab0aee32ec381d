import type { JsonSchema } from './json-schema.ts'
import { accept, type Outcome, refuse } from './outcome.ts'

const INTEGER = 'Input should be a valid integer'
const NUMBER = 'Input should be a valid number'
const BOOLEAN = 'Input should be a valid boolean'

/** Where a float ends that Pydantic takes for an integer: 2 to the power of 63. */
const MAX_INT64 = 2 ** 63
const MAX_DIGITS = 4_300

export function checkInteger(schema: JsonSchema, value: unknown): Outcome {
  if (typeof value === 'boolean') return within(schema, value ? 1 : 0)
  if (typeof value === 'string') return integerOf(schema, value)
  if (typeof value !== 'number') return refuse('int_type', INTEGER)
  if (!Number.isFinite(value)) return notFinite()
  if (!Number.isInteger(value)) {
    return refuse('int_from_float', `${INTEGER}, got a number with a fractional part`)
  }
  return exact(schema, value)
}

export function checkNumber(schema: JsonSchema, value: unknown): Outcome {
  if (typeof value === 'boolean') return within(schema, value ? 1 : 0)
  const number = typeof value === 'string' ? floatOf(value) : value
  if (number === undefined) {
    return refuse('float_parsing', `${NUMBER}, unable to parse string as a number`)
  }
  if (typeof number !== 'number') return refuse('float_type', NUMBER)
  // JSON has no other numbers, so none could be stored or answered.
  return Number.isFinite(number) ? within(schema, number) : notFinite()
}

export function checkBoolean(value: unknown): Outcome {
  if (typeof value === 'boolean') return accept(value)
  const isInteger = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < MAX_INT64
  if (typeof value !== 'string' && !isInteger) return refuse('bool_type', BOOLEAN)
  const word = String(value).toLowerCase()
  if (TRUE.includes(word)) return accept(true)
  if (FALSE.includes(word)) return accept(false)
  return refuse('bool_parsing', `${BOOLEAN}, unable to interpret input`)
}

const TRUE = ['1', 't', 'y', 'on', 'yes', 'true']
const FALSE = ['0', 'f', 'n', 'no', 'off', 'false']

/** Digits with an optional sign, single underscores between them, and a fraction of zeros. */
function integerOf(schema: JsonSchema, text: string): Outcome {
  const [, sign, digits] = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/.exec(text.trim()) ?? []
  if (digits === undefined) {
    return refuse('int_parsing', `${INTEGER}, unable to parse string as an integer`)
  }
  if (digits.length > MAX_DIGITS) return tooManyDigits()
  const number = Number(digits.replaceAll('_', ''))
  return exact(schema, sign === '-' ? -number : number)
}

/** An integer that a number of JavaScript cannot hold is not changed into another one without a word. */
function exact(schema: JsonSchema, value: number): Outcome {
  const checked = within(schema, value === 0 ? 0 : value)
  return checked.fault || Number.isSafeInteger(value) ? checked : tooManyDigits()
}

/** As Rust reads a float, or with single underscores anywhere inside. */
function floatOf(text: string): number | undefined {
  return (
    plainFloatOf(text.trim()) ?? (/^_|__|_$/.test(text) ? undefined : plainFloatOf(text.replaceAll('_', '')))
  )
}

function plainFloatOf(text: string): number | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return Number(text)
  return /^[+-]?(?:inf|infinity|nan)$/i.test(text) ? Number.NaN : undefined
}

function within({ minimum, maximum }: JsonSchema, value: number): Outcome {
  const message = 'Input should be'
  if (maximum !== undefined && value > maximum) {
    return refuse('less_than_equal', `${message} less than or equal to ${maximum}`, { le: maximum })
  }
  if (minimum !== undefined && value < minimum) {
    return refuse('greater_than_equal', `${message} greater than or equal to ${minimum}`, { ge: minimum })
  }
  return accept(value)
}

const notFinite = () => refuse('finite_number', 'Input should be a finite number')

const tooManyDigits = () =>
  refuse('int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size')
