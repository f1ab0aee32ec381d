import { accept, type Outcome, refuse } from './outcome.ts'

const GROUPS = [8, 4, 4, 4, 12]
const CANONICAL = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** A UUID with or without hyphens, in braces or as a URN. It becomes lower case with hyphens. */
export function checkUuid(value: unknown): Outcome {
  if (typeof value !== 'string')
    return refuse('uuid_type', 'UUID input should be a string, bytes or UUID object')
  if (CANONICAL.test(value)) return accept(value)
  const hex = hexOf(value)
  if (hex !== undefined) {
    return accept(hex.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
  }
  const error = faultOf(value)
  return refuse('uuid_parsing', `Input should be a valid UUID, ${error}`, { error })
}

function hexOf(text: string): string | undefined {
  if (/^[\da-f]{32}$/i.test(text)) return text
  const bare = unwrapped(text).inner
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(bare) ? bare.replaceAll('-', '') : undefined
}

function unwrapped(text: string): { readonly inner: string; readonly offset: number } {
  if (text.length > 1 && text.startsWith('{') && text.endsWith('}')) {
    return { inner: text.slice(1, -1), offset: 1 }
  }
  return text.startsWith('urn:uuid:') ? { inner: text.slice(9), offset: 9 } : { inner: text, offset: 0 }
}

/** What is wrong with it, in the words of the uuid crate that Pydantic reads it with. Positions and lengths are in bytes. */
function faultOf(text: string): string {
  const { inner, offset } = unwrapped(text)
  const odd = /[^\da-f-]/iu.exec(inner)
  if (odd) return `invalid character: found \`${odd[0]}\` at ${odd.index + offset + 1}`
  const count = inner.length - inner.replaceAll('-', '').length + 1
  if (count === 1 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${text.length}`
  }
  if (count !== 5) return `invalid group count: expected 5, found ${count}`
  const hyphens = [...inner.matchAll(/-/g)].map(({ index }) => index)
  let start = 0
  for (const [group, expected] of GROUPS.entries()) {
    // The crate counts the last group up to the end of the input, with its closing brace.
    const length = (hyphens[group] ?? text.length) - start
    if (length !== expected || group === 4) {
      return `invalid group length in group ${group}: expected ${expected}, found ${length}`
    }
    start += expected + 1
  }
  return 'failed to parse a UUID'
}
