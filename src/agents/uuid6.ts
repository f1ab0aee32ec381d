/** The number of 100 ns steps from 15 October 1582, where UUID time begins, to 1970. */
const GREGORIAN = 122_192_928_000_000_000n
let newestTicks = 0n

/**
 * A UUID version 6 (RFC 9562 §5.6). The ids of this process increase. An id created with `after` is greater
 * than that id, even if it came from a machine with a fast clock.
 */
export function uuid6(after?: string): string {
  const clock = BigInt(Date.now()) * 10_000n + GREGORIAN
  newestTicks = clock > newestTicks ? clock : newestTicks + 1n
  const floor = after === undefined ? 0n : ticksOf(after) + 1n
  const ticks = (newestTicks > floor ? newestTicks : floor).toString(16).padStart(15, '0')
  // The variant and the random bits have the same positions as in version 4.
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12)}${crypto.randomUUID().slice(18)}`
}

function ticksOf(id: string): bigint {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/.exec(id)
  return match ? BigInt(`0x${match[1]}${match[2]}${match[3]}`) : 0n
}
