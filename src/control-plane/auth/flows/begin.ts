import { uuid7 } from '../../../core/ids.ts'
import { refusal } from '../../errors.ts'
import type { SecretBox } from '../../secrets/secret-box.ts'
import { callbackUrl, endpointsOf } from '../providers/endpoints.ts'
import type { FlowRecord, ProviderRecord } from '../records.ts'
import type { AuthContext, Authenticated, AuthenticateRequest } from '../service.ts'
import { FLOWS, put, userPartition } from '../stored.ts'

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
export async function beginFlow(
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

/** Undefined for an invalid `auth_id`. */
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
