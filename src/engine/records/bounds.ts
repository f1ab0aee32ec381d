import { RunError } from '../errors.ts'

type Metadata = Readonly<Record<string, unknown>>

/** Of metadata, which searches compare, and of a state, where each key is a channel with versions of its own. */
const MAX_KEYS = 1_000
/** Every read of a thread returns its metadata, and a page has up to 1,000 threads. */
const MAX_LENGTH = 256 * 1024

/** The metadata of a thread. Throws `invalid_argument` if they have more than 1,000 keys, or 262,144 characters of JSON. */
export function boundedMetadata(metadata: Metadata): Metadata {
  if (Object.keys(metadata).length > MAX_KEYS) throw tooLarge(`${MAX_KEYS} keys`)
  if (JSON.stringify(metadata).length > MAX_LENGTH) throw tooLarge(`${MAX_LENGTH} characters of JSON`)
  return metadata
}

const tooLarge = (bound: string): RunError =>
  new RunError(
    'invalid_argument',
    `metadata: expected at most ${bound} on a thread. Keep larger values in its state.`,
  )

/** Throws `invalid_argument` for an input or an update of a state with more than 1,000 keys. */
export function requireFewKeys(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  if (Object.keys(value).length > MAX_KEYS)
    throw new RunError(
      'invalid_argument',
      `${name}: expected at most ${MAX_KEYS} keys. Put more values below one key.`,
    )
}
