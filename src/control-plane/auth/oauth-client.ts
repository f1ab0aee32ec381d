import * as oauth from 'oauth4webapi'
import { DeliveryError } from '../../core/egress/errors.ts'
import type { GuardedFetch, GuardedFetchInit } from '../../core/egress/guarded-fetch.ts'
import { ProviderError } from '../errors.ts'
import type { ClientAuthMethod, ProviderRecord } from './records.ts'
import { readTokenAnswer, scopesOf, type TokenAnswer } from './token-answer.ts'

export type OAuthClient = ReturnType<typeof createOAuthClient>

/** The parameters that a provider sends back. */
export interface ProviderAnswer {
  readonly code?: string | undefined
  readonly state?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

export interface ProviderClient {
  readonly provider: ProviderRecord
  readonly clientSecret: string | undefined
}

/** The parameters of an authorization request. */
export interface SentFlow {
  readonly state: string
  readonly redirectUri: string
  readonly verifier: string | undefined
}

export interface Grant extends Pick<TokenAnswer, 'accountLabel' | 'workspaceToken'> {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly expiresInSeconds: number | undefined
  /** Undefined if the response names none: the scopes are as requested. */
  readonly scopes: readonly string[] | undefined
}

/** Sends requests to authorization servers. Failures are thrown as `ProviderError`. */
export function createOAuthClient(fetch: GuardedFetch) {
  const options: RequestOptions = {
    // URLs are checked when they are stored. The only plain HTTP URLs are loopback ones, if those are
    // allowed.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: object) => fetch(url, init as GuardedFetchInit),
  }
  return {
    /** RFC 7636 §4.2. */
    challengeOf: oauth.calculatePKCECodeChallenge,
    makeVerifier: oauth.generateRandomCodeVerifier,

    /** Checks `state`, `iss` and `error` of an authorization response before it sends the code. */
    exchange: (client: ProviderClient, sent: SentFlow, answer: ProviderAnswer): Promise<Grant> =>
      exchange(options, client, sent, answer),

    refresh: (client: ProviderClient, refreshToken: string): Promise<Grant> => {
      const { provider } = client
      const [server, self] = [serverOf(provider), clientOf(provider)]
      const additional = { ...options, ...additionalOf(provider) }
      return grantOf(
        client,
        () =>
          oauth.refreshTokenGrantRequest(server, self, authenticationOf(client), refreshToken, additional),
        oauth.processRefreshTokenResponse,
      )
    },

    revoke: (client: ProviderClient, revocationUrl: string, token: string): Promise<void> =>
      translated(async () => {
        const server = { ...serverOf(client.provider), revocation_endpoint: revocationUrl }
        const self = clientOf(client.provider)
        const response = await oauth.revocationRequest(server, self, authenticationOf(client), token, options)
        await oauth.processRevocationResponse(response)
      }),

    /** RFC 8414, and OpenID Connect Discovery. Undefined if the server has no metadata. */
    findServer: (issuer: URL) => findServer(options, issuer),

    /** RFC 9728. Undefined if the resource has no metadata. */
    findResource: (resource: URL): Promise<oauth.ResourceServer | undefined> =>
      discover(
        () => oauth.resourceDiscoveryRequest(resource, options),
        (response) => oauth.processResourceDiscoveryResponse(resource, response),
      ),

    /** RFC 7591. */
    register: (server: oauth.AuthorizationServer, metadata: oauth.JsonObject) =>
      register(options, server, metadata),
  }
}

interface RequestOptions {
  readonly [oauth.allowInsecureRequests]: true
  readonly [oauth.customFetch]: (url: string, init: object) => Promise<Response>
}

const additionalOf = ({ resource }: ProviderRecord) => ({
  additionalParameters: new URLSearchParams(resource === null ? {} : { resource }),
})

const grantOf = (
  { provider }: ProviderClient,
  request: () => Promise<Response>,
  process: typeof oauth.processRefreshTokenResponse,
): Promise<Grant> =>
  translated(async () => {
    const { response, ...rest } = await readTokenAnswer(await request(), provider.providerType)
    const body = await process(serverOf(provider), clientOf(provider), response)
    return {
      ...rest,
      accessToken: body.access_token,
      refreshToken: body.refresh_token,
      expiresInSeconds: body.expires_in,
      scopes: body.scope === undefined ? undefined : scopesOf(body.scope),
    }
  })

function exchange(
  options: RequestOptions,
  client: ProviderClient,
  { state, redirectUri, verifier }: SentFlow,
  answer: ProviderAnswer,
): Promise<Grant> {
  const { provider } = client
  const [server, self] = [serverOf(provider), clientOf(provider)]
  return grantOf(
    client,
    () =>
      oauth.authorizationCodeGrantRequest(
        server,
        self,
        authenticationOf(client),
        oauth.validateAuthResponse(server, self, parametersOf(provider, answer), state),
        redirectUri,
        verifier ?? oauth.nopkce,
        { ...options, ...additionalOf(provider) },
      ),
    oauth.processAuthorizationCodeResponse,
  )
}

/** Undefined if there is no such document. */
const discover = <T>(request: () => Promise<Response>, process: (response: Response) => Promise<T>) =>
  translated(async () => {
    const response = await request()
    const isAbsent = response.status >= 300 && response.status < 500 && response.status !== 429
    return isAbsent ? undefined : process(response)
  })

async function findServer(
  options: RequestOptions,
  issuer: URL,
): Promise<oauth.AuthorizationServer | undefined> {
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    const found = await discover(
      () => oauth.discoveryRequest(issuer, { ...options, algorithm }),
      (response) => oauth.processDiscoveryResponse(issuer, response),
    )
    if (found) return found
  }
  return undefined
}

const register = (options: RequestOptions, server: oauth.AuthorizationServer, metadata: oauth.JsonObject) =>
  translated(async () => {
    const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, options)
    // Some servers respond with 200 instead of the 201 that RFC 7591 §3.2.1 requires.
    const response = answer.status === 200 ? new Response(answer.body, { status: 201 }) : answer
    const registered = await oauth.processDynamicClientRegistrationResponse(response)
    const { client_id, client_secret } = registered as { client_id: string; client_secret?: string }
    return {
      clientId: client_id,
      clientSecret: client_secret || null,
      authMethod: client_secret ? authMethodOf(registered.token_endpoint_auth_method) : 'none',
    } as const
  })

/** RFC 7591 §2: the default is `client_secret_basic`. */
const authMethodOf = (method: unknown): ClientAuthMethod =>
  method === 'client_secret_post' ? method : 'client_secret_basic'

const issuerOf = ({ issuer, authUrl }: ProviderRecord): string => issuer ?? new URL(authUrl).origin

const serverOf = (provider: ProviderRecord): oauth.AuthorizationServer => ({
  issuer: issuerOf(provider),
  token_endpoint: provider.tokenUrl,
  authorization_response_iss_parameter_supported: provider.sendsIssuer,
})

const clientOf = ({ clientId }: ProviderRecord): oauth.Client => ({ client_id: clientId })

function authenticationOf({ provider, clientSecret }: ProviderClient): oauth.ClientAuth {
  const method = provider.tokenEndpointAuthMethod
  if (clientSecret === undefined || method === 'none') return oauth.None()
  return method === 'client_secret_basic'
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret)
}

/**
 * Without a known issuer, an `iss` must at least have the origin that the user was sent to. In addition, each
 * provider has its own redirect URI, the other defense against mix-up attacks (RFC 9700 §4.4.2).
 */
function parametersOf(provider: ProviderRecord, answer: ProviderAnswer): URLSearchParams {
  const { iss, ...rest } = answer
  const isOfOrigin =
    provider.issuer === null && iss && URL.canParse(iss) && new URL(iss).origin === issuerOf(provider)
  const given = isOfOrigin ? rest : { iss, ...rest }
  return new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined) as [string, string][],
  )
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translate(error)
  }
}

/**
 * The library's errors contain complete responses, with tokens. They are not passed on, not even as a cause.
 */
function translate(error: unknown): ProviderError {
  if (error instanceof DeliveryError)
    return new ProviderError(
      'unreachable',
      `The request to the provider failed: ${error.message}`,
      error.retryable,
    )
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    // RFC 6749 §5.2 allows more characters, but no code in use has them.
    const code = /^[\w.:-]{1,64}$/.test(error.error) ? error.error : 'invalid_answer'
    return new ProviderError(
      code,
      `The provider rejected the request: ${code}.`,
      TRANSIENT_CODES.includes(code),
    )
  }
  const cause = error instanceof Error ? error.cause : undefined
  const status = cause instanceof Response ? cause.status : undefined
  if (status !== undefined && (status < 200 || status > 299))
    return new ProviderError(
      'invalid_answer',
      `The provider responded with status ${status}.`,
      status >= 500 || status === 429,
    )
  // The library's other messages quote nothing.
  const detail = error instanceof Error ? `: ${error.message}` : ''
  return new ProviderError('invalid_answer', `The provider's response is not valid OAuth 2.0${detail}.`)
}

const TRANSIENT_CODES: readonly string[] = ['server_error', 'temporarily_unavailable', 'slow_down']
