import { isRecord } from '../../../messages/record.ts'
import { decodeBase64 } from '../../formats/reading/base64.ts'

/**
 * How to treat base64 in a trace: `keep` keeps it, `hash` replaces it with `sha256:<hex>;bytes=<size>`, and a
 * number is the size in bytes above which it is hashed.
 */
export type Base64Policy = 'keep' | 'hash' | number

/** The fields that contain media in provider and platform formats. */
const FIELDS = new Set(['base64', 'data', 'file_data', 'b64_json', 'image_data', 'result', 'bytes'])
const MARK = ';base64,'
/** Shorter text is not media. */
const MIN_MEDIA_LENGTH = 32

/** Applies the policy to a value and changes it in place. */
export async function applyPolicy(value: unknown, policy: Base64Policy): Promise<void> {
  if (policy === 'keep') return
  const limit = policy === 'hash' ? 0 : policy
  const work: Promise<void>[] = []
  visit(value, (holder, key, text) => {
    const at = text.startsWith('data:') ? text.indexOf(MARK) : -1
    const [head, base64] = at > 0 ? [text.slice(0, at + 1), text.slice(at + MARK.length)] : ['', text]
    if (at < 0 && !(FIELDS.has(key) && isBase64(base64))) return
    const size = sizeOf(base64)
    if (size > limit) work.push(stubOf(base64, size).then((stub) => void (holder[key] = head + stub)))
  })
  await Promise.all(work)
}

type Holder = Record<string, unknown>

function visit(value: unknown, onText: (holder: Holder, key: string, text: string) => void): void {
  if (!Array.isArray(value) && !isRecord(value)) return
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string') visit(item, onText)
    else if (item.length >= MIN_MEDIA_LENGTH) onText(value as Holder, key, item)
  }
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[\w+/-]+={0,2}$/.test(text)

const sizeOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/** The hash of the bytes and their size, or the size alone on pages without TLS (no `crypto.subtle`). */
async function stubOf(base64: string, size: number): Promise<string> {
  const { subtle } = crypto as Partial<Crypto>
  if (!subtle) return `removed;bytes=${size}`
  const digest = await subtle.digest('SHA-256', bytesOf(base64))
  let hex = ''
  for (const byte of new Uint8Array(digest)) hex += byte.toString(16).padStart(2, '0')
  return `sha256:${hex};bytes=${size}`
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/')
  try {
    return decodeBase64(standard)
  } catch {
    // The text is not base64, so the text itself is hashed.
    return new TextEncoder().encode(base64)
  }
}
