import { uuid7 } from '../../../core/ids.ts'
import { noToken, refusal } from '../../errors.ts'
import type { SecretBox } from '../../secrets/secret-box.ts'
import { callbackUrl, endpointsOf, providerFor } from '../endpoints.ts'
import {
  FLOWS,
  type FlowRecord,
  type ProviderRecord,
  put,
  type TokenRecord,
  userKeyOf,
  userPartition,
} from '../records.ts'
import type { AuthContext, Authenticated, AuthenticateRequest, CallerContext, Token } from '../service.ts'
import { usableToken } from '../tokens/refresh.ts'
import { loadWorkspaceToken } from '../tokens/removal.ts'
import { connectionsOf, openToken, tokensOf } from '../tokens/tokens.ts'

/** How long a user has to sign in, in milliseconds. */
const FLOW_MS = 10 * 60_000

/** How long `wait` accepts a flow that has ended, in milliseconds. */
const KEPT_MS = 60 * 60_000

export const putFlow = (flow: FlowRecord) => put(FLOWS, flow.id, flow, { ttlMs: KEPT_MS })

interface BeginRequest extends Pick<AuthenticateRequest, 'scopes' | 'isDefault' | 'agentId' | 'redirectUri'> {
  readonly userKey: string
  readonly owner: string | null
  readonly user: string | null
  readonly startedBy: string | null
  /** The token to renew. Undefined: creates a new one. */
  readonly replaces: string | undefined
  readonly baseUrl: string
}

/** Starts a sign-in. Returns the URL that the user opens, and the flow's name. */
async function beginFlow(
  context: AuthContext,
  provider: ProviderRecord,
  request: BeginRequest,
): Promise<NonNullable<Authenticated['flow']>> {
  const { store, secrets, client, now } = context
  const { userKey, scopes } = request
  const { codeChallengeMethod = 'S256' } = provider
  const at = now()
  const flowId = uuid7(at)
  const redirectUri = redirectUriOf(provider, request)
  const verifier = provider.usesPkce ? client.makeVerifier() : undefined
  const flow: FlowRecord = {
    id: flowId,
    owner: request.owner,
    providerId: provider.providerId,
    providerKey: provider.id,
    isPlatform: provider.organizationId === null,
    startedBy: request.startedBy,
    user: request.user,
    agentId: request.agentId ?? null,
    scopes,
    redirectUri,
    endpoints: await endpointsOf(provider),
    secrets:
      verifier === undefined
        ? []
        : await secrets.seal(flowContext(flowId), [{ name: 'code_verifier', value: verifier }]),
    isDefault: request.isDefault,
    replaces: request.replaces ?? null,
    status: 'pending',
    expiresAt: at + FLOW_MS,
  }
  await store.commit(userPartition(userKey), {
    guards: [{ guard: 'absent', collection: FLOWS, id: flowId }],
    ops: [putFlow(flow)],
  })
  const url = new URL(provider.authUrl)
  const parameters = {
    ...provider.authorizationParams,
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    state: await signState(secrets, { userKey, flowId }, provider.providerId),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(provider.resource !== null && { resource: provider.resource }),
    ...(verifier !== undefined && {
      code_challenge: codeChallengeMethod === 'plain' ? verifier : await client.challengeOf(verifier),
      code_challenge_method: codeChallengeMethod,
    }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, authId: authIdOf({ userKey, flowId }) }
}

/** Throws 400 for a URI that the provider's owner has not allowed. */
function redirectUriOf(provider: ProviderRecord, { redirectUri, baseUrl }: BeginRequest): string {
  const own = callbackUrl(baseUrl, provider.providerId)
  const allowed = [
    own,
    ...provider.allowedRedirectUris,
    ...(provider.defaultRedirectUri === null ? [] : [provider.defaultRedirectUri]),
  ]
  if (redirectUri === undefined) return provider.defaultRedirectUri ?? own
  if (allowed.includes(redirectUri)) return redirectUri
  throw refusal(400, 'redirect_uri is not one of the allowed_redirect_uris of this provider.')
}

/**
 * A flow's name for `wait`: its user's key, which determines the partition, and its id. It reveals neither
 * the tenant nor the user, and only works for callers that may wait for the flow.
 */
interface FlowName {
  readonly userKey: string
  readonly flowId: string
}

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'

const authIdOf = ({ userKey, flowId }: FlowName): string => `${userKey}.${flowId}`

export function parseAuthId(text: string): FlowName | undefined {
  const [, userKey, flowId] = new RegExp(`^(${UUID})\\.(${UUID})$`).exec(text) ?? []
  return userKey !== undefined && flowId !== undefined ? { userKey, flowId } : undefined
}

/** The `state` of an authorization request: the flow with a signature that is valid for one provider. */
async function signState(secrets: SecretBox, name: FlowName, providerId: string): Promise<string> {
  const authId = authIdOf(name)
  return `${authId}.${await secrets.sign(signed(authId, providerId))}`
}

/** Undefined unless this control plane has signed it for this provider. */
export async function verifyState(
  secrets: SecretBox,
  state: string,
  providerId: string,
): Promise<FlowName | undefined> {
  const at = state.lastIndexOf('.')
  const authId = state.slice(0, Math.max(at, 0))
  const name = parseAuthId(authId)
  return name && (await secrets.verify(signed(authId, providerId), state.slice(at + 1))) ? name : undefined
}

const signed = (authId: string, providerId: string): string => `oauth-state:${authId}:${providerId}`

/** The context that a flow's secrets are bound to. */
export const flowContext = (flowId: string): string => `oauth-flow:${flowId}`

/** Returns a user's token, refreshed if necessary, or starts a sign-in. */
export async function authenticate(
  context: CallerContext,
  request: AuthenticateRequest,
  baseUrl: string,
): Promise<Authenticated> {
  const { owner, id: startedBy } = context
  const user = userFor(context, request.userId ?? request.lsUserId)
  const provider = await providerFor(context, owner, request.provider, request.useAgentBuilderPublicOauth)
  const userKey = await userKeyOf(owner, user)
  const partition = userPartition(userKey)
  const { checkOnly, scopes, tokenId, agentId } = request
  const begin = async (status: Authenticated['status'], replaces?: TokenRecord): Promise<Authenticated> => {
    if (checkOnly) return { status: status === 'pending' ? 'connection_required' : status, user }
    const flow = { ...request, owner, user, userKey, startedBy, baseUrl, replaces: replaces?.id }
    return { status, user, flow: await beginFlow(context, provider, flow) }
  }
  if (request.forceNew && !checkOnly) return begin('pending')

  const chosen = await choose(context, partition, provider, { tokenId, agentId })
  if (!chosen.token) {
    const shared = chosen.isOpen ? undefined : await workspaceToken(context, provider, scopes)
    if (shared) return { status: 'completed', user, ...(!checkOnly && { token: shared }) }
    return chosen.isOpen ? { status: 'connection_required', user } : begin('pending')
  }
  if (!covers(chosen.token, scopes)) return begin('pending', chosen.token)
  const usable = await usableToken(context, partition, chosen.token.id, provider)
  if (usable) return { status: 'completed', user, ...(!checkOnly && { token: usable }) }
  return begin(checkOnly || chosen.isNamed ? 'token_expired' : 'pending', chosen.token)
}

/** Throws 403 if the caller may not access that user's tokens. */
function userFor({ owner, id, mayActFor }: CallerContext, user: string | undefined): string | null {
  if (user === undefined || user === id) return id
  // Without authentication, callers cannot be distinguished.
  if (id === null || mayActFor({ owner, id }, user)) return user
  throw refusal(403, 'You may not act for another user. Omit user_id, or allow it with mayActFor.')
}

interface Chosen {
  readonly token: TokenRecord | undefined
  /** The request names the token, or the agent is connected to it. */
  readonly isNamed: boolean
  /** There are several tokens, and nothing selects one. */
  readonly isOpen: boolean
}

async function choose(
  { store }: AuthContext,
  partition: string,
  provider: ProviderRecord,
  { tokenId, agentId }: Pick<AuthenticateRequest, 'tokenId' | 'agentId'>,
): Promise<Chosen> {
  const tokens = (await tokensOf(store, partition)).filter(({ record }) => record.providerKey === provider.id)
  const named = (token: Token): Chosen => ({ token: token.record, isNamed: true, isOpen: false })
  const byId = (id: string) => tokens.find(({ record }) => record.id === id)
  if (tokenId !== undefined) {
    const token = byId(tokenId)
    if (!token) throw noToken(tokenId)
    return named(token)
  }
  if (agentId !== undefined) {
    const connections = await connectionsOf(store, partition, agentId)
    const connected = connections.map(({ tokenId }) => byId(tokenId)).findLast((token) => token !== undefined)
    if (connected) return named(connected)
  }
  const token = tokens.find(({ isDefault }) => isDefault) ?? (tokens.length === 1 ? tokens[0] : undefined)
  return { token: token?.record, isNamed: false, isOpen: token === undefined && tokens.length > 1 }
}

/**
 * Whether a token has these scopes, or was requested with them. Providers rename scopes and users may decline
 * some, so a second request would return the same.
 */
const covers = ({ scopes, requestedScopes }: TokenRecord, wanted: readonly string[]): boolean =>
  wanted.every((scope) => scopes.includes(scope) || requestedScopes.includes(scope))

async function workspaceToken(
  context: CallerContext,
  provider: ProviderRecord,
  scopes: readonly string[],
): Promise<Authenticated['token']> {
  if (provider.providerType !== 'slack') return undefined
  const record = await loadWorkspaceToken(context)
  if (record?.providerKey !== provider.id || !scopes.every((scope) => record.scopes.includes(scope)))
    return undefined
  return { record, value: (await openToken(context, record)).accessToken }
}
