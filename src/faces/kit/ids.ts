import { HttpError } from '../../core/http/index.ts'

const MAX_THREAD_ID = 512
/**
 * Names that checkpointers built on plain objects cannot use as keys, and those that every client resolves in
 * a path, so that a request for `/threads/..` is one for another route.
 */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype', '.', '..'])

/** Any text can be a thread id, within what every storage supports. Throws `HttpError` 400. */
export function threadIdOf(id: string | undefined): string {
  if (id !== undefined && isThreadId(id)) return id
  throw new HttpError(
    400,
    'invalid_argument',
    `A thread id must be 1 to ${MAX_THREAD_ID} characters of well-formed text without control characters, and not a reserved name. Use a UUID, for example.`,
  )
}

export const isThreadId = (id: string): boolean =>
  id !== '' && id.length <= MAX_THREAD_ID && !RESERVED.has(id) && isText(id)

/** Text without control characters and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const isText = (id: string): boolean => !/[\u0000-\u001f\u007f\p{Surrogate}]/u.test(id)
