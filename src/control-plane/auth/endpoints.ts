import { checkUrl } from '../../core/egress/check-url.ts'
import { DeliveryError } from '../../core/egress/errors.ts'
import { uuidOf } from '../../core/ids.ts'
import { noProvider, refusal } from '../errors.ts'
import { load, PROVIDERS, type ProviderRecord, tenantPartition } from './records.ts'
import type { AuthContext } from './service.ts'

/** The loopback hosts, as URLs write them. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Throws 400 unless it is a public `https:` URL, or a loopback URL if those are allowed. */
export function checkEndpoint(name: string, text: string, allowLoopback: boolean): string {
  try {
    const { protocol, hostname, hash } = checkUrl(text, { allowLoopback })
    if (protocol !== 'https:' && !LOOPBACK.test(hostname))
      throw new DeliveryError('invalid_request', 'Use an https: URL.')
    if (hash) throw new DeliveryError('invalid_request', 'Use a URL without a fragment.')
    return text
  } catch (error) {
    if (error instanceof DeliveryError) throw refusal(400, `${name}: ${error.message}`)
    throw error
  }
}

/** Throws 400 unless browsers may be sent there with a code: over `https:`, or to a loopback host. */
export function checkRedirectUri(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (isSafe && !url.hash && !url.username) return text
  throw refusal(
    400,
    'A redirect URI must be an absolute https: URL without a fragment, or an http: URL on this machine.',
  )
}

/**
 * A digest of where a provider's codes, tokens and secrets are sent. After its URLs change, what was issued
 * for the old ones is not sent to the new ones.
 */
export const endpointsOf = ({ authUrl, tokenUrl, revocationUrl, issuer }: ProviderRecord): Promise<string> =>
  uuidOf([authUrl, tokenUrl, revocationUrl, issuer])

export const callbackUrl = (baseUrl: string, providerId: string): string =>
  `${baseUrl}/v2/auth/callback/${encodeURIComponent(providerId)}`

const contextOf = (providerKey: string): string => `oauth-provider:${providerKey}`

export const sealClientSecret = ({ secrets }: AuthContext, providerKey: string, value: string) =>
  secrets.seal(contextOf(providerKey), [{ name: 'client_secret', value }])

/** Undefined for a public client. */
export async function clientSecretOf(
  context: AuthContext,
  provider: ProviderRecord,
): Promise<string | undefined> {
  const platform = context.platformSecrets.get(provider.id)
  if (platform !== undefined || provider.secrets.length === 0) return platform
  const [opened] = await context.secrets.open(contextOf(provider.id), provider.secrets)
  return opened?.value
}

/** A provider of the tenant, otherwise of the platform. */
export async function providerFor(
  context: AuthContext,
  owner: string | null,
  providerId: string,
  isPlatform: boolean,
): Promise<ProviderRecord> {
  const found = isPlatform
    ? undefined
    : await load<ProviderRecord>(context.store, await tenantPartition(owner), PROVIDERS, providerId)
  const provider = found?.record ?? context.platformProviders.find((one) => one.providerId === providerId)
  if (!provider) throw noProvider(providerId)
  return provider
}
