/** 100 ns steps from 15 October 1582, where UUID time begins, to 1970. */
const GREGORIAN = 122_192_928_000_000_000n
let newest = 0n

/**
 * A UUID version 6 (RFC 9562 §5.6). Ids of this process rise; an id given `after` another one is greater than it, also
 * where that one comes from a machine whose clock is ahead.
 */
export function uuid6(after?: string): string {
  const clock = BigInt(Date.now()) * 10_000n + GREGORIAN
  newest = clock > newest ? clock : newest + 1n
  const floor = after === undefined ? 0n : ticksOf(after) + 1n
  const ticks = (newest > floor ? newest : floor).toString(16).padStart(15, '0')
  const random = hex(crypto.getRandomValues(new Uint8Array(8)))
  const variant = (8 + (Number.parseInt(random[0]!, 16) & 3)).toString(16)
  return join(ticks.slice(0, 12), `6${ticks.slice(12)}`, `${variant}${random.slice(1, 4)}`, random.slice(4))
}

/**
 * The id that belongs to `path` in a run: the same for the same `seed` (a UUID) and path, so that what a function does again
 * gets the ids it had. Shaped as a UUID.
 */
export function derivedId(seed: string, path: string): string {
  const digits = seed.replaceAll('-', '').padEnd(16, '0')
  const [high, low] = hash(`${seed}/${path}`)
  const tail = high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
  return join(digits.slice(0, 12), digits.slice(12, 16), `a${tail.slice(1, 4)}`, tail.slice(4))
}

function join(time: string, version: string, variant: string, node: string): string {
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${node}`
}

function ticksOf(id: string): bigint {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/.exec(id)
  return match ? BigInt(`0x${match[1]}${match[2]}${match[3]}`) : 0n
}

function hex(bytes: Uint8Array): string {
  let digits = ''
  for (const byte of bytes) digits += byte.toString(16).padStart(2, '0')
  return digits
}

/** 64 bits that depend on every character: two multiplicative hashes that stir each other at the end. */
function hash(text: string): readonly [number, number] {
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x5bd1e995) ^ (b >>> 15)
  }
  a = Math.imul(a ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (a >>> 16), 0x27d4eb2f)
  return [(a ^ (b >>> 11)) >>> 0, (b ^ (a >>> 14)) >>> 0]
}
