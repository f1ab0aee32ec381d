import { createGuardedFetch } from '../../core/egress/guarded-fetch.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { TokenVault } from '../handler.ts'
import { checkEndpoint } from './endpoints.ts'
import { completeFlow } from './flows/complete.ts'
import { type AuthService, methodsOf } from './methods.ts'
import { createOAuthClient } from './oauth-client.ts'
import {
  type ClientAuthMethod,
  PROVIDER_DEFAULTS,
  type ProviderRecord,
  type ProviderType,
} from './records.ts'
import type { AuthCaller, AuthContext, AuthServiceParts } from './service.ts'

export type { ClientAuthMethod, ProviderType } from './records.ts'
export type { AuthCaller } from './service.ts'
export type { PlatformProvider, TokenVault }

export interface TokenVaultOptions {
  /**
   * The control plane's URL for clients and browsers, with its prefix, such as
   * `https://control.example.com/api-host`. Providers redirect users to it. Default: the URL of the request,
   * which is wrong behind a proxy that terminates TLS.
   */
  readonly publicUrl?: string | undefined
  /**
   * Where the browser goes after a sign-in, with `provider_id`, `status` (`completed` or `failed`) and
   * `error`. Default: a page of the control plane.
   */
  readonly returnUrl?: string | undefined
  /**
   * Providers for all tenants, listed by `GET /v2/auth/platform-providers`. A tenant's own provider with the
   * same id takes precedence.
   */
  readonly platformProviders?: readonly PlatformProvider[] | undefined
  /**
   * Whether a principal may access tokens of another user in its tenant, by `user_id` or `ls_user_id`, for
   * example a backend for its users. Default: no. Without `authenticate`, all callers may.
   */
  readonly mayActFor?: ((caller: AuthCaller, userId: string) => boolean) | undefined
  /** Allows providers on this machine over plain HTTP, for tests and local use. Default false. */
  readonly allowLoopback?: boolean | undefined
}

/** An OAuth client that the operator has registered, for all tenants. */
interface PlatformProvider {
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

const PLATFORM_PROVIDER: OptionTable<PlatformProvider> = {
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

const VAULT_OPTIONS: OptionTable<TokenVaultOptions> = {
  publicUrl: 'string',
  returnUrl: 'string',
  platformProviders: { '*': PLATFORM_PROVIDER },
  mayActFor: 'function',
  allowLoopback: 'boolean',
}

/** How much of a provider's response is read, in bytes. */
const MAX_ANSWER_BYTES = 262_144

/**
 * Stores users' tokens for other services: users sign in there, and their agents receive the tokens. Pass it
 * as the option `tokenVault` of `createControlPlaneHandler`, for the routes below `/v2/auth`. Needs the
 * package `oauth4webapi`.
 */
export function tokenVault(options: TokenVaultOptions = {}): TokenVault {
  checkOptions('tokenVault', options, VAULT_OPTIONS)
  const { allowLoopback = false, mayActFor = () => false, platformProviders = [] } = options
  const open = (parts: AuthServiceParts): AuthService => {
    const closing = new AbortController()
    const platform = platformProviders.map((given) => platformProvider(given, allowLoopback))
    const context: AuthContext = {
      ...parts,
      client: createOAuthClient(createGuardedFetch({ allowLoopback, maxResponseBytes: MAX_ANSWER_BYTES })),
      allowLoopback,
      mayActFor,
      platformProviders: platform.map(({ record }) => record),
      platformSecrets: new Map(
        platform.flatMap(({ record, secret }) => (secret ? [[record.id, secret]] : [])),
      ),
      closing: closing.signal,
    }
    return {
      publicUrl: options.publicUrl?.replace(/(?<!\/)\/+$/, ''),
      returnUrl: options.returnUrl,
      platformProviders: context.platformProviders,
      of: (caller) => methodsOf(context, caller),
      complete: (caller, providerId, answer) => completeFlow(context, caller, providerId, answer),
      async close() {
        closing.abort()
      },
    }
  }
  return { open }
}

/** The key is the same on every instance, so that tokens find their provider. */
function platformProvider(given: PlatformProvider, allowLoopback: boolean) {
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
