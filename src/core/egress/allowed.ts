import { AgentwireError } from '../errors.ts'
import { bitsOf, hostOf } from './address.ts'

/** Receivers that may be called although they are not public. */
export interface Allowed {
  /** Whether a name may be called, whatever its addresses. */
  host(name: string): boolean
  /** Whether an address may be called. */
  address(address: string): boolean
  /** Whether any addresses are allowed, so that a name of a private network may resolve to one. */
  readonly hasAddresses: boolean
}

/**
 * Parses the `allow` option: blocks of addresses (`10.20.0.0/16`, `fd00::/8`), addresses, names, and `*.`
 * plus a name for all names below it. Throws `AgentwireError` `invalid_argument` for anything else.
 */
export function readAllowed(entries: readonly string[] = []): Allowed {
  const blocks = entries.map(blockOf)
  const names = entries.filter((_, at) => blocks[at] === undefined).map(nameOf)
  return {
    host: (name) => names.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one)),
    address: (address) => blocks.some((block) => block?.(address)),
    hasAddresses: blocks.some((block) => block !== undefined),
  }
}

/** A check whether an address is in the block of an entry. Undefined if the entry is not a block. */
function blockOf(entry: string): ((address: string) => boolean) | undefined {
  const [, text = '', length] = /^(.*?)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const block = bitsOf(text)
  if (!block) return undefined
  const prefix = Number(length ?? block.width)
  if (prefix > block.width) throw invalid(entry)
  const rest = BigInt(block.width - prefix)
  return (address) => {
    const bits = bitsOf(address)
    return bits?.width === block.width && bits.value >> rest === block.value >> rest
  }
}

function nameOf(entry: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?([^*/:@?#[\]\s]+)$/.exec(entry) ?? []
  const host = name && hostOf(name)
  // A host of digits only is an address in an unusual notation.
  if (!host || bitsOf(host)) throw invalid(entry)
  return wildcard + host.replace(/(?<!\.)\.+$/, '')
}

const invalid = (entry: string): AgentwireError =>
  new AgentwireError(
    'invalid_argument',
    `allow: ${JSON.stringify(entry)} is not an address, a CIDR block such as 10.20.0.0/16, or a name such as hooks.internal or *.internal.`,
  )
