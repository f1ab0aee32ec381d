import { createGuardedFetch } from '../../egress/guarded-fetch.ts'
import { checkOptions, type OptionTable } from '../../options.ts'
import { connectionMethods } from './connections.ts'
import type { AuthContext } from './context.ts'
import { authenticate } from './flows/authenticate.ts'
import { completeFlow } from './flows/complete.ts'
import { waitForFlow } from './flows/wait.ts'
import { providerMethods } from './manage-providers.ts'
import { createOAuthClient } from './oauth-client.ts'
import { discoverProvider } from './providers/mcp.ts'
import { PLATFORM_PROVIDER, type PlatformProvider, platformProvider } from './providers/platform.ts'
import type { AuthCaller, CreateAuthService } from './service.ts'
import { removalMethods } from './tokens/removal.ts'
import { tokenMethods } from './tokens/tokens.ts'

export type { SealedSecret } from '../records/records.ts'
export type { Secret, SecretBox } from '../secrets/secret-box.ts'
export type {
  ChallengeMethod,
  ClientAuthMethod,
  ConnectionRecord,
  FlowRecord,
  ProviderRecord,
  ProviderType,
  TokenEventRecord,
  TokenEventType,
  TokenRecord,
} from './records.ts'
export type * from './service.ts'
export type { PlatformProvider }

export interface OAuthOptions {
  /**
   * Where clients and browsers reach this control plane, with its prefix, such as `https://control.example.com/api-host`. Providers send
   * users back there. Default: what the request was sent to, which is wrong behind a proxy that ends TLS.
   */
  readonly publicUrl?: string | undefined
  /** Where the browser goes after a sign-in: it gets `provider_id`, `status` (`completed` or `failed`) and `error`. Default: a page says so. */
  readonly returnUrl?: string | undefined
  /** Providers that all tenants can use, as `GET /v2/auth/platform-providers` lists them. A tenant's own of the same id takes precedence. */
  readonly platformProviders?: readonly PlatformProvider[] | undefined
  /**
   * Whether a principal may have tokens of another user of its tenant, by `user_id` or `ls_user_id`: a backend acts for its users. Default:
   * nobody may. Without `authenticate` everybody may.
   */
  readonly mayActFor?: ((caller: AuthCaller, userId: string) => boolean) | undefined
  /** Lets providers be on this machine, over plain HTTP: for tests and local use. Default false. */
  readonly allowLoopback?: boolean | undefined
}

const OAUTH_OPTIONS: OptionTable<OAuthOptions> = {
  publicUrl: 'string',
  returnUrl: 'string',
  platformProviders: { '*': PLATFORM_PROVIDER },
  mayActFor: 'function',
  allowLoopback: 'boolean',
}

/** How much of a provider's answer is read, in bytes. */
const MAX_ANSWER_BYTES = 262_144

/**
 * The auth service of a control plane: users sign in to other services, and agents get their tokens. It is the option `oauth` of
 * `createControlPlaneHandler`. Needs the package `oauth4webapi`.
 */
export function oauth(options: OAuthOptions = {}): CreateAuthService {
  checkOptions('oauth', options, OAUTH_OPTIONS)
  const { allowLoopback = false, mayActFor = () => false, platformProviders = [] } = options
  const trimmed = options.publicUrl?.replace(/\/+$/, '')
  return (parts) => {
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
      publicUrl: trimmed,
      returnUrl: options.returnUrl,
      platformProviders: context.platformProviders,
      ...providerMethods(context),
      ...tokenMethods(context),
      ...removalMethods(context),
      ...connectionMethods(context),
      discoverProvider: (owner, given, baseUrl) => discoverProvider(context, owner, given, baseUrl),
      authenticate: (caller, request, baseUrl) => authenticate(context, caller, request, baseUrl),
      wait: (caller, authId, timeoutMs, signal) => waitForFlow(context, caller, authId, timeoutMs, signal),
      complete: (caller, providerId, answer) => completeFlow(context, caller, providerId, answer),
      async close() {
        closing.abort()
      },
    }
  }
}
