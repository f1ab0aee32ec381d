import { sha256, toHex } from './bytes.ts'

const MAX_COUNT = 0xfff

let last = { at: 0, count: 0 }

/**
 * A UUID version 7 (RFC 9562 §5.7): 48 bits of milliseconds since 1970, a 12-bit counter within the
 * millisecond (§6.2, method 1), and random bits. Ids sort by time. Ids of this process made without `now`
 * sort in the order of creation, even if its clock is set back.
 */
export function uuid7(now?: number): string {
  const bytes = randomBytes()
  // The counter starts in the lower half, to leave room for counting up.
  const start = ((bytes[6]! & 0x07) << 8) | bytes[7]!
  const { at, count } = now === undefined ? next(start) : { at: now, count: start }
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(at / 2 ** (8 * (5 - i))) & 0xff
  bytes[6] = (count >> 8) | 0x70
  bytes[7] = count & 0xff
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return formatUuid(toHex(bytes))
}

/** The next time and counter. If a millisecond has no counters left, the next one is used early. */
function next(start: number): typeof last {
  const now = Date.now()
  if (now > last.at) last = { at: now, count: start }
  else if (last.count < MAX_COUNT) last = { at: last.at, count: last.count + 1 }
  else last = { at: last.at + 1, count: start }
  return last
}

let drawn = new Uint8Array(0)

/** 16 random bytes, drawn for 64 ids at once because each draw is a system call. */
function randomBytes(): Uint8Array {
  if (drawn.length === 0) drawn = crypto.getRandomValues(new Uint8Array(1024))
  const bytes = drawn.subarray(0, 16)
  drawn = drawn.subarray(16)
  return bytes
}

/** A UUID version 8 (RFC 9562 §5.8), derived from a JSON value: equal values have equal ids. */
export async function uuidOf(value: unknown): Promise<string> {
  const bytes = (await sha256(JSON.stringify(value))).slice(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return formatUuid(toHex(bytes))
}

/** Formats 32 hexadecimal digits as a UUID. */
export function formatUuid(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a value is a UUID of any version, in any case. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)
