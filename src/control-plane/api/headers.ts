import { type Call, empty, jsonText, type ResponseOptions } from '../../core/http/index.ts'
import { uuidOf } from '../../core/ids.ts'
import { ownerOf } from '../../core/principal.ts'
import { refusal } from '../errors.ts'
import type { SecretBox } from '../secrets/secret-box.ts'

/** Headers that operations read, for the document. */
export const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    'The same request with the same key is done once, and answered with what it has made. 1 to 255 visible characters.',
} as const
export const IF_MATCH = {
  'If-Match': 'Does nothing, and answers 412, unless this is the ETag of what is changed.',
} as const
export const PREFER_WAIT = {
  Prefer: '`wait=N`: answers within N seconds, at most 60.',
  'If-None-Match': 'With `Prefer`: waits until there is another ETag.',
} as const
export const LAST_EVENT_ID = { 'Last-Event-ID': 'The `id` of an event: goes on behind it.' } as const

/** The longest wait, in seconds: proxies close connections that are silent for longer. */
const MAX_SECONDS = 60
/** Notifications of a shared store may be lost, so the wait reads again after this time, in milliseconds. */
const RECHECK_MS = 5_000

/** The seconds in `Prefer: wait=N` (RFC 7240 §4.3), at most 60. Undefined without it. */
export function secondsToWait({ headers }: Request): number | undefined {
  const preferences = (headers.get('prefer') ?? '').split(',').map((preference) => preference.split(';')[0]!)
  for (const preference of preferences) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i.exec(preference) ?? []
    if (seconds !== undefined) return Math.min(Number(seconds), MAX_SECONDS)
  }
  return undefined
}

interface WaitOptions<T> {
  readonly seconds: number
  readonly read: () => Promise<T>
  readonly isDone: (value: T) => boolean
  /** Resolves at a change, after `ms` milliseconds, or when the signal aborts. */
  readonly changed: (ms: number, signal: AbortSignal) => Promise<void>
  /** Each ends the wait. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

/** Reads after each change until `isDone`. After a timeout or abort, returns the last value. */
export async function readUntil<T>(options: WaitOptions<T>): Promise<T> {
  const { seconds, read, isDone, changed, signals } = options
  const ended = new AbortController()
  const end = () => ended.abort()
  const stops = signals.map((signal) => onAbort(signal, end))
  const timer = setTimeout(end, seconds * 1_000)
  if (seconds === 0) end()
  try {
    for (;;) {
      // It listens before it reads, so that it misses no change in between.
      const next = changed(RECHECK_MS, ended.signal)
      const value = await read()
      if (isDone(value) || ended.signal.aborted) return value
      await next
    }
  } finally {
    clearTimeout(timer)
    end()
    for (const stop of stops) stop()
  }
}

const listeners = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` when the signal aborts, or immediately if it has aborted, until the returned function is
 * called. Each signal has one listener, because Node reports many as a leak.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {}
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const own = () => listener() // The same function may be added twice.
  const all = listeners.get(signal) ?? new Set()
  if (!listeners.has(signal)) {
    listeners.set(signal, all)
    signal.addEventListener('abort', () => {
      for (const one of all) one()
    })
  }
  all.add(own)
  return () => void all.delete(own)
}

/** A request's `Idempotency-Key`. */
export interface RequestKey {
  /** The id of the record: the same for the same caller, operation and key. */
  readonly id: string
  /** Distinguishes requests with the same key. It is keyed, because the body may contain secrets. */
  readonly fingerprint: string
}

const MAX_LENGTH = 255

/** Undefined without the header. Throws 400 for an invalid key. */
export async function requestKey(
  secrets: SecretBox,
  { params, body, call }: { readonly params: unknown; readonly body: unknown; readonly call: Call },
): Promise<RequestKey | undefined> {
  const key = call.request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(key))
    throw refusal(
      400,
      `Idempotency-Key: expected 1 to ${MAX_LENGTH} visible ASCII characters without spaces, such as a UUID.`,
    )
  const operation = [call.request.method, call.route, params]
  return {
    id: await uuidOf(['idempotency-key', ownerOf(call.principal), operation, key]),
    fingerprint: await secrets.sign(`request ${JSON.stringify([operation, body])}`),
  }
}

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
