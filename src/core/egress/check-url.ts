import { type Allowed, reachOf, readAllowed } from './address.ts'
import { DeliveryError } from './errors.ts'

export interface AddressPolicy {
  /**
   * Whether this machine's own loopback addresses (127.0.0.0/8, ::1, `localhost`) are allowed. Other private
   * addresses are not. Default: false.
   */
  readonly allowLoopback?: boolean | undefined
  /**
   * Receivers that may be called although they are not public, such as those of a private network: addresses
   * (`10.20.30.40`), blocks (`10.20.0.0/16`, `fd00::/8`), names (`hooks.internal`), and `*.internal` for all
   * names below one. An allowed name may resolve to any address. Default: none.
   */
  readonly allow?: readonly string[] | undefined
}

/**
 * Names that no public server has, because they belong to the machine or its network (RFC 6761, 6762, 8375).
 * Names with a single label are also local.
 */
const LOCAL_NAME = /^[^.]*$|\.(localhost|local|internal|home\.arpa)$/

/**
 * Checks a URL before its name is resolved. Throws `DeliveryError`: `invalid_request` for anything except an
 * `http:` or `https:` URL without credentials, `address_refused` for an address that is not public, in any
 * notation.
 *
 * @param isResolved False if the addresses of the name are not checked later.
 */
export function checkUrl(text: string, policy: AddressPolicy = {}, isResolved = true): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new DeliveryError('invalid_request', 'Use an absolute http: or https: URL.')
  if (url.username || url.password)
    throw new DeliveryError('invalid_request', 'Use a URL without a user name and password.')
  const name = nameOf(url)
  const allowed = readAllowed(policy.allow)
  if (reachOf(name)) assertAddress(name, policy, allowed)
  else if (LOCAL_NAME.test(name) && !allowed.host(name)) {
    const isOfMachine = /(^|\.)localhost$/.test(name) && policy.allowLoopback
    // The resolved addresses are checked later.
    if (!isOfMachine && !(isResolved && allowed.hasAddresses)) throw refused()
  }
  return url
}

/** Throws `DeliveryError` `address_refused` unless all resolved addresses of a name may be called. */
export function checkAddresses(addresses: readonly string[], policy: AddressPolicy, name = ''): void {
  const allowed = readAllowed(policy.allow)
  if (!allowed.host(name)) for (const address of addresses) assertAddress(address, policy, allowed)
}

/** The host of a URL for a resolver and TLS: without brackets and without the trailing dot. */
export const nameOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/(?<!\.)\.+$/, '')

function assertAddress(address: string, { allowLoopback }: AddressPolicy, allowed: Allowed): void {
  const reach = reachOf(address)
  if (reach !== 'public' && !(reach === 'loopback' && allowLoopback) && !allowed.address(address))
    throw refused()
}

const refused = (): DeliveryError =>
  new DeliveryError('address_refused', 'The URL does not lead to the public internet. Use a public address.')
