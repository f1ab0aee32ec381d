import { empty, jsonText, type ResponseOptions } from '../../core/http/index.ts'
import { refusal } from '../errors.ts'

/** A strong validator for a response (RFC 9110 §8.8.3): different texts have different validators. */
export function etagOf(text: string): string {
  // FNV-1a, twice with different seeds. It need not be secure, only cheap, because clients poll every second.
  let one = 0x811c9dc5
  let two = 0x01234567
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    one = Math.imul(one ^ unit, 0x01000193)
    two = Math.imul(two ^ unit, 0x01000193)
    two ^= two >>> 15
  }
  return `"${text.length.toString(16)}-${hex(one)}${hex(two)}"`
}

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0')

/** A JSON response with its validator, or 304 for a matching `If-None-Match` (RFC 9110 §13.1.2). */
export function validated(
  request: Request,
  body: unknown,
  { status = 200, headers }: ResponseOptions,
): Response {
  const text = JSON.stringify(body)
  // Keep the cache headers of an operation that sets them.
  if (status >= 300 || headers?.['cache-control'] !== undefined) return jsonText(text, { status, headers })
  const etag = etagOf(text)
  // Caches must revalidate.
  const all = { ...headers, etag, 'cache-control': 'private, no-cache' }
  if (request.method === 'GET' && hasAlready(request, etag)) return empty(304, all)
  return jsonText(text, { status, headers: all })
}

/** Whether `If-None-Match` has the validator. */
export function hasAlready(request: Request, etag: string): boolean {
  const header = request.headers.get('if-none-match')
  if (header === null) return false
  return header.trim() === '*' || tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag)
}

/** Throws 412 if `If-Match` lacks the body's validator (RFC 9110 §13.1.1). Weak validators never match. */
export function checkMatch(request: Request, body: unknown): void {
  const header = request.headers.get('if-match')
  if (header === null || header.trim() === '*') return
  if (!tagsOf(header).includes(etagOf(JSON.stringify(body)))) throw hasChanged()
}

/** The condition of `If-Match` fails. */
export const hasChanged = () =>
  refusal(
    412,
    'It has changed since you read it. Read it again, and send the ETag of that response as If-Match.',
  )

const tagsOf = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []
