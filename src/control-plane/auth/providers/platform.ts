import type { OptionTable } from '../../../core/options.ts'
import {
  type ClientAuthMethod,
  PROVIDER_DEFAULTS,
  type ProviderRecord,
  type ProviderType,
} from '../records.ts'
import { checkEndpoint } from './endpoints.ts'

/** An OAuth client that the operator has registered, for all tenants. */
export interface PlatformProvider {
  readonly providerId: string
  readonly name: string
  readonly clientId: string
  /** Default: none, for a public client. It is only kept in memory. */
  readonly clientSecret?: string | undefined
  readonly authUrl: string
  readonly tokenUrl: string
  /** RFC 7009. Default: looked up in the server's metadata. */
  readonly revocationUrl?: string | undefined
  /** If set, the `iss` in the server's responses must equal it (RFC 9207). */
  readonly issuer?: string | undefined
  /** Default true. */
  readonly usesPkce?: boolean | undefined
  readonly providerType?: ProviderType | undefined
  /** Default `client_secret_post`. */
  readonly tokenEndpointAuthMethod?: ClientAuthMethod | undefined
  /** Further parameters of the authorization request, such as `{ access_type: 'offline' }`. */
  readonly authorizationParams?: Readonly<Record<string, string>> | undefined
}

export const PLATFORM_PROVIDER: OptionTable<PlatformProvider> = {
  providerId: ['required', 'string'],
  name: ['required', 'string'],
  clientId: ['required', 'string'],
  clientSecret: 'string',
  authUrl: ['required', 'string'],
  tokenUrl: ['required', 'string'],
  revocationUrl: 'string',
  issuer: 'string',
  usesPkce: 'boolean',
  providerType: 'string',
  tokenEndpointAuthMethod: 'string',
  authorizationParams: 'object',
}

/** The key is the same on every instance, so that tokens find their provider. */
export function platformProvider(given: PlatformProvider, allowLoopback: boolean) {
  const { clientSecret, usesPkce = true, tokenEndpointAuthMethod = 'client_secret_post', ...rest } = given
  const record: ProviderRecord = {
    ...PROVIDER_DEFAULTS,
    ...withoutUndefined(rest),
    id: `platform:${given.providerId}`,
    organizationId: null,
    authUrl: checkEndpoint('authUrl', given.authUrl, allowLoopback),
    tokenUrl: checkEndpoint('tokenUrl', given.tokenUrl, allowLoopback),
    usesPkce,
    tokenEndpointAuthMethod,
    createdAt: 0,
    updatedAt: 0,
  }
  return { record, secret: clientSecret }
}

const withoutUndefined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    readonly [Name in keyof T]: Exclude<T[Name], undefined>
  }
