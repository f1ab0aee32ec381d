import { type Reach, reachOf } from './address.ts'
import { DeliveryError } from './errors.ts'

export interface AddressPolicy {
  /** Whether this machine's own loopback addresses (127.0.0.0/8, ::1, `localhost`) are allowed, and nothing else private. Default false. */
  readonly allowLoopback?: boolean | undefined
}

/** Names that no public server has: they belong to the machine or its network (RFC 6761, 6762, 8375). One label does as well. */
const LOCAL_NAME = /^[^.]*$|\.(localhost|local|internal|home\.arpa)$/

/**
 * Checks what can be known of a URL before its name is resolved. Throws `DeliveryError`: `invalid_request` where it is no `http:` or
 * `https:` URL or has credentials, `address_refused` where it names an address that is not public, in whatever spelling.
 */
export function checkUrl(text: string, policy: AddressPolicy = {}): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new DeliveryError('invalid_request', 'Give an absolute http: or https: URL.')
  if (url.username || url.password)
    throw new DeliveryError('invalid_request', 'Give a URL without a user name and a password.')
  const name = nameOf(url)
  const reach = reachOf(name)
  if (reach) assertReach(reach, policy)
  else if (/(^|\.)localhost$/.test(name)) assertReach('loopback', policy)
  else if (LOCAL_NAME.test(name)) assertReach('special', policy)
  return url
}

/** Throws `DeliveryError` `address_refused` unless all that a name was resolved to may be called. */
export function checkAddresses(addresses: readonly string[], policy: AddressPolicy): void {
  for (const address of addresses) assertReach(reachOf(address) ?? 'special', policy)
}

/** The host of a URL as a resolver and TLS want it: without brackets and without the dot of the root. */
export const nameOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')

function assertReach(reach: Reach, { allowLoopback }: AddressPolicy): void {
  if (reach !== 'public' && !(reach === 'loopback' && allowLoopback))
    throw new DeliveryError(
      'address_refused',
      'The URL does not lead to the public internet. Give a public address.',
    )
}
