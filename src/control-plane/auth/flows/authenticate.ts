import { noToken, refusal } from '../../errors.ts'
import { providerFor } from '../providers/endpoints.ts'
import type { ProviderRecord, TokenRecord } from '../records.ts'
import type { AuthContext, Authenticated, AuthenticateRequest, CallerContext, Token } from '../service.ts'
import { userKeyOf, userPartition } from '../stored.ts'
import { usableToken } from '../tokens/refresh.ts'
import { loadWorkspaceToken } from '../tokens/removal.ts'
import { connectionsOf, openToken, tokensOf } from '../tokens/tokens.ts'
import { beginFlow } from './begin.ts'

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
