import type { JsonSchema } from './json-schema.ts'
import { accept, type Outcome, refuse } from './problem.ts'

const INTEGER = 'Input should be a valid integer'
const NUMBER = 'Input should be a valid number'
const BOOLEAN = 'Input should be a valid boolean'

const WHOLE = /^[+-]?\d+(?:\.0+)?$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

export function checkInteger(schema: JsonSchema, value: unknown): Outcome {
  const number = numberOf(value, WHOLE)
  if (number === null) return refuse('int_parsing', `${INTEGER}, unable to parse string as an integer`)
  if (number === undefined) return refuse('int_type', INTEGER)
  if (!Number.isFinite(number)) return NOT_FINITE
  if (!Number.isInteger(number))
    return refuse('int_from_float', `${INTEGER}, got a number with a fractional part`)
  const checked = within(schema, number === 0 ? 0 : number)
  // An integer that JavaScript cannot represent is rejected instead of rounded.
  return checked.fault || Number.isSafeInteger(number) ? checked : TOO_LARGE
}

export function checkNumber(schema: JsonSchema, value: unknown): Outcome {
  const number = numberOf(value, DECIMAL)
  if (number === null) return refuse('float_parsing', `${NUMBER}, unable to parse string as a number`)
  if (number === undefined) return refuse('float_type', NUMBER)
  // JSON has no other numbers, so none could be stored or returned.
  return Number.isFinite(number) ? within(schema, number) : NOT_FINITE
}

export function checkBoolean(value: unknown): Outcome {
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

const NOT_FINITE = /* @__PURE__ */ refuse('finite_number', 'Input should be a finite number')
const TOO_LARGE = /* @__PURE__ */ refuse(
  'int_parsing_size',
  'Unable to parse input string as an integer, exceeded maximum size',
)
