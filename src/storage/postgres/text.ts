import { createHash } from 'node:crypto'

/** Characters that the type `text` rejects, NUL and lone surrogates, and the character that marks them. */
const UNFIT = /[\0\u007f\p{Surrogate}]/u
const EVERY_UNFIT = /[\0\u007f\p{Surrogate}]/gu
const MARKED = /\u007f([0-9a-f]{4})/g
/**
 * In characters. With five keys in one index, a key must stay far below the limit of 2,700 bytes per index
 * row.
 */
const MAX_KEY = 128
const KEPT = 64

/** Encodes any string as one that Postgres stores. The inverse is `fromText`. */
export function toText(value: string): string {
  if (!UNFIT.test(value)) return value
  return value.replace(EVERY_UNFIT, (unit) => `\u007f${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function fromText(text: string): string {
  return text.replace(MARKED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/**
 * A string as an indexed column stores it: unchanged if Postgres can index it, otherwise its start and a
 * digest. So strings longer than 128 characters, or with NUL or lone surrogates, are only ordered by their
 * starts.
 */
export function keyOf(value: string): string {
  if (value.length <= MAX_KEY && !UNFIT.test(value)) return value
  const unfit = value.search(UNFIT)
  const fit = value.slice(0, unfit < 0 ? KEPT : Math.min(unfit, KEPT))
  const digest = createHash('sha256').update(toText(value)).digest('base64url')
  // The cut may have split a surrogate pair.
  return `${fit.replace(/\p{Surrogate}$/u, '')}\u007f${digest}`
}

/** The strings themselves, as JSON, if one of them is not its own key. Stored with the keys. */
export function namesOf(...values: readonly (string | undefined)[]): string | null {
  return values.every((value) => value === undefined || keyOf(value) === value)
    ? null
    : JSON.stringify(values)
}

/** The strings that were passed to `namesOf`, from its result and their keys. */
export function readNames<Names extends readonly (string | null)[]>(
  names: string | null,
  ...keys: Names
): Names {
  return names === null ? keys : (JSON.parse(names) as Names)
}
