import type { JsonSchema } from './json-schema.ts'
import { accept, type Outcome, plural, refuse } from './problem.ts'

/** The length is counted in characters, not in UTF-16 units. */
export function checkText(schema: JsonSchema, value: unknown): Outcome {
  const message = 'Input should be a valid string'
  if (typeof value !== 'string') return refuse('string_type', message)
  if (/\p{Surrogate}/u.test(value))
    return refuse('string_unicode', `${message}, unable to parse raw data as a unicode string`)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
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
  const { pattern } = schema
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
export function checkUuid(value: unknown): Outcome {
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

/** One of a few values, without conversion. */
export function checkLiteral(allowed: readonly (string | number)[], value: unknown): Outcome {
  if (allowed.some((one) => one === value)) return accept(value)
  const names = allowed.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)))
  const last = names.pop()
  const expected = names.length > 0 ? `${names.join(', ')} or ${last}` : last
  return refuse('literal_error', `Input should be ${expected}`, { expected })
}
