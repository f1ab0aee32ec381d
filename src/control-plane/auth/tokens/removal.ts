import { HttpError, reportError } from '../../../core/http/index.ts'
import { ProviderError, refusal } from '../../errors.ts'
import { retryConflicts } from '../../records/docs.ts'
import { checkEndpoint, clientSecretOf, endpointsOf, providerFor } from '../endpoints.ts'
import {
  CONNECTIONS,
  type ConnectionRecord,
  type EventDetails,
  eventOp,
  load,
  loadAll,
  type ProviderRecord,
  TOKENS,
  type TokenRecord,
  unchanged,
  WORKSPACE_TOKENS,
} from '../records.ts'
import type { AuthContext, CallerContext } from '../service.ts'
import { clearDefault, findToken, listTokens, loadDefault, openToken } from './tokens.ts'

/** Revokes one of the caller's tokens at its provider and removes it. */
export async function removeToken(context: CallerContext, tokenId: string): Promise<void> {
  const { record } = await findToken(context, tokenId)
  await remove(context, context.partition, record, await providerOf(context, record))
}

/** Returns their number. */
export async function removeTokens(context: CallerContext, providerId: string): Promise<number> {
  const tokens = await listTokens(context, providerId)
  for (const { record } of tokens)
    await remove(context, context.partition, record, await providerOf(context, record))
  return tokens.length
}

/** Whether the tenant has a token of its Slack workspace. */
export const hasWorkspaceToken = async (context: CallerContext): Promise<boolean> =>
  (await loadWorkspaceToken(context)) !== undefined

export async function removeWorkspaceToken(context: CallerContext): Promise<void> {
  const token = await loadWorkspaceToken(context)
  if (!token) throw refusal(404, 'This workspace has no Slack token.')
  await revoke(context, token, await providerOf(context, token))
  await context.store.commit(context.tenant, {
    ops: [{ op: 'delete', collection: WORKSPACE_TOKENS, id: SLACK }],
  })
}

export const SLACK = 'slack'

/** The token that Slack issues for a workspace. All users of the tenant share it. */
export const loadWorkspaceToken = async ({
  store,
  tenant,
}: CallerContext): Promise<TokenRecord | undefined> =>
  (await load<TokenRecord>(store, tenant, WORKSPACE_TOKENS, SLACK))?.record

/** Removes all users' data for a provider. */
export async function removeAllTokens(context: AuthContext, provider: ProviderRecord): Promise<void> {
  for (;;) {
    const { docs } = await context.store.list(TOKENS, { where: { provider: provider.id }, limit: 20 })
    if (docs.length === 0) return
    await Promise.all(
      docs.map(({ partition, value }) =>
        remove(context, partition, value as unknown as TokenRecord, provider),
      ),
    )
  }
}

/** Revokes the token at its provider, then removes it with its connections. */
async function remove(
  context: AuthContext,
  partition: string,
  token: TokenRecord,
  provider: ProviderRecord | undefined,
): Promise<void> {
  const { store, now } = context
  const failure = await revoke(context, token, provider)
  await retryConflicts(async () => {
    const found = await load<TokenRecord>(store, partition, TOKENS, token.id)
    if (!found) return
    const connections = await loadAll<ConnectionRecord>(store, CONNECTIONS, { partition })
    const cleared = clearDefault(await loadDefault(store, partition, token))
    const at = now()
    await store.commit(partition, {
      guards: [unchanged(TOKENS, found), ...cleared.guards],
      ops: [
        { op: 'delete', collection: TOKENS, id: token.id },
        ...cleared.ops,
        ...connections
          .filter(({ record }) => record.tokenId === token.id)
          .map(({ record: { id } }) => ({ op: 'delete', collection: CONNECTIONS, id }) as const),
        ...(failure ? [eventOp(token, 'token_revocation_failed', at, failure)] : []),
        eventOp(token, 'token_deleted', at),
      ],
    })
  })
}

/** Undefined if the provider was removed, or replaced by another one with the same name. */
async function providerOf(
  context: CallerContext,
  { providerId, providerKey }: TokenRecord,
): Promise<ProviderRecord | undefined> {
  const isPlatform = context.platformProviders.some(({ id }) => id === providerKey)
  const found = await providerFor(context, context.owner, providerId, isPlatform).catch(() => undefined)
  return found?.id === providerKey ? found : undefined
}

/** Returns why the provider could not be told. The token is removed in any case. */
async function revoke(
  context: AuthContext,
  token: TokenRecord,
  provider: ProviderRecord | undefined,
): Promise<EventDetails | undefined> {
  if (!provider || token.endpoints !== (await endpointsOf(provider)))
    return {
      reason: 'provider_changed',
      detail: 'The provider’s URLs have changed since it issued the token.',
    }
  try {
    const revocationUrl = provider.revocationUrl ?? (await findRevocationUrl(context, provider))
    if (revocationUrl === undefined)
      return { reason: 'not_supported', detail: 'The provider publishes no revocation endpoint (RFC 7009).' }
    const client = { provider, clientSecret: await clientSecretOf(context, provider) }
    const { accessToken, refreshToken } = await openToken(context, token)
    if (refreshToken !== undefined) await context.client.revoke(client, revocationUrl, refreshToken)
    await context.client.revoke(client, revocationUrl, accessToken)
    return undefined
  } catch (error) {
    if (error instanceof ProviderError || error instanceof HttpError)
      return { reason: error.code, detail: error.message }
    reportError(error, context.onError)
    return { reason: 'internal_error', detail: 'The token could not be revoked.' }
  }
}

/** From the metadata of the server that users are sent to, if it has the same token endpoint. */
async function findRevocationUrl(
  { client, allowLoopback }: AuthContext,
  { issuer, authUrl, tokenUrl }: ProviderRecord,
): Promise<string | undefined> {
  const server = await client.findServer(new URL(issuer ?? new URL(authUrl).origin))
  const url = server?.token_endpoint === tokenUrl ? server.revocation_endpoint : undefined
  return url === undefined ? undefined : checkEndpoint('revocation_endpoint', url, allowLoopback)
}
