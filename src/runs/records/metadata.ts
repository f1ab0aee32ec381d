import { RunError } from '../errors.ts'

type Metadata = Readonly<Record<string, unknown>>

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
