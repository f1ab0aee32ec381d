import { AgentwireError } from '../errors.ts'

/** Where an address leads. `special` is neither the public internet nor this machine's loopback. */
export type Reach = 'public' | 'loopback' | 'special'

/**
 * The IPv4 blocks that are not public, with their prefix lengths. Source: IANA's special-purpose registry,
 * multicast, and the address at which Azure serves its own machines.
 */
const SPECIAL_V4: readonly (readonly [block: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** Where an IP address leads. IPv4 must have four decimal parts, as in URLs. Undefined for anything else. */
export function reachOf(address: string): Reach | undefined {
  if (/^(\d+\.){3}\d+$/.test(address))
    return hostOf(address) === address ? reachOfV4(toNumber(address)) : undefined
  const v6 = /^[\da-f.]*:[\da-f:.]*$/i.test(address) ? hostOf(`[${address}]`) : undefined
  return v6 === undefined ? undefined : reachOfV6(v6.slice(1, -1))
}

/** An IP address as a number of `width` bits. Undefined for anything else. */
export function bitsOf(address: string): { readonly value: bigint; readonly width: number } | undefined {
  const reach = reachOf(address)
  if (reach === undefined) return undefined
  if (!address.includes(':')) return { value: BigInt(toNumber(address)), width: 32 }
  const [before = '', after] = hostOf(`[${address}]`)!.slice(1, -1).split('::')
  const [left, right] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...left!, ...Array(8 - left!.length - right!.length).fill('0'), ...right!]
  return { value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n), width: 128 }
}

/** A host in the normal form of URLs. Undefined for anything else. */
export const hostOf = (host: string): string | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined

function reachOfV4(address: number): Reach {
  const isWithin = (block: string, prefix: number) =>
    Math.floor(address / 2 ** (32 - prefix)) === Math.floor(toNumber(block) / 2 ** (32 - prefix))
  if (isWithin('127.0.0.0', 8)) return 'loopback'
  return SPECIAL_V4.some(([block, prefix]) => isWithin(block, prefix)) ? 'special' : 'public'
}

const toNumber = (dotted: string): number =>
  dotted.split('.').reduce((number, part) => number * 256 + Number(part), 0)

/**
 * Within the addresses that are assigned to the internet (2000::/3), protocol assignments, tunnels to IPv4
 * addresses (Teredo, 6to4) and documentation are excluded. Mapped, compatible and NAT64 addresses are outside
 * this block.
 */
function reachOfV6(address: string): Reach {
  if (address === '::1') return 'loopback'
  const [first, second] = address.split(':').map((group) => Number.parseInt(group || '0', 16)) as [
    number,
    number,
  ]
  const isSpecial =
    first < 0x2000 ||
    first > 0x3fff ||
    first === 0x2002 ||
    (first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
    (first === 0x3fff && second < 0x1000)
  return isSpecial ? 'special' : 'public'
}

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
