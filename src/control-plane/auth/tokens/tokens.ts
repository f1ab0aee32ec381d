import type * as z from 'zod/mini'
import { uuid7 } from '../../../core/ids.ts'
import type { Op, Store } from '../../../storage/index.ts'
import { noToken, refusal } from '../../errors.ts'
import { retryConflicts } from '../../records/docs.ts'
import type { IMPORT_TOKEN, PATCH_TOKEN } from '../../wire/auth.ts'
import type { Given } from '../../wire/common.ts'
import { endpointsOf, providerFor } from '../endpoints.ts'
import {
  CONNECTIONS,
  type ConnectionRecord,
  DEFAULTS,
  EVENTS,
  eventOp,
  load,
  loadAll,
  put,
  type Stored,
  TOKENS,
  type TokenEventRecord,
  type TokenRecord,
  unchanged,
} from '../records.ts'
import type { AuthContext, CallerContext, Connection, Token } from '../service.ts'

/** The caller's own tokens, oldest first: all, or those for one provider. */
export async function listTokens(
  { store, partition }: CallerContext,
  providerId: string | null | undefined,
): Promise<readonly Token[]> {
  const tokens = await tokensOf(store, partition)
  return tokens.filter(({ record }) => providerId == null || record.providerId === providerId)
}

export const changeToken = (
  context: CallerContext,
  tokenId: string,
  change: Given<z.output<typeof PATCH_TOKEN>>,
): Promise<Token> =>
  retryConflicts(async () => {
    const { store, partition, now } = context
    const found = await findToken(context, tokenId)
    const known = await loadDefault(store, partition, found.record)
    const { providerAccountLabel: accountLabel = found.record.accountLabel, isDefault } = change
    const cleared = clearDefault(isDefault === false ? known : undefined)
    const record = { ...found.record, accountLabel, updatedAt: now() }
    await store.commit(partition, {
      guards: [unchanged(TOKENS, found), ...cleared.guards],
      ops: [putToken(record), ...(isDefault ? [makeDefault(record)] : []), ...cleared.ops],
    })
    return { record, isDefault: isDefault ?? known !== undefined }
  })

/** Returns the token's id. */
export async function importToken(
  context: CallerContext,
  given: Given<z.output<typeof IMPORT_TOKEN>>,
): Promise<string> {
  const provider = await providerFor(context, context.owner, given.providerId, false)
  const { accessToken, refreshToken, expiresInSeconds, scopes, metadata = null, isDefault } = given
  const at = context.now()
  const id = uuid7(at)
  const record: TokenRecord = {
    id,
    providerId: provider.providerId,
    providerKey: provider.id,
    accountLabel: null,
    scopes,
    requestedScopes: scopes,
    expiresAt: expiryOf(at, expiresInSeconds),
    secrets: await sealToken(context, id, accessToken, refreshToken),
    endpoints: await endpointsOf(provider),
    metadata,
    createdAt: at,
    updatedAt: at,
  }
  await context.store.commit(context.partition, {
    ops: [
      putToken(record),
      ...(isDefault ? [makeDefault(record)] : []),
      eventOp(record, 'token_imported', at),
    ],
  })
  return id
}

/** Newest first. */
export async function listEvents(
  { store, partition }: CallerContext,
  providerId: string | null | undefined,
  limit: number,
): Promise<readonly TokenEventRecord[]> {
  const page = await store.list(EVENTS, {
    partition,
    ...(providerId != null && { where: { provider: providerId } }),
    orderBy: 'at',
    descending: true,
    limit,
  })
  return page.docs.map(({ value }) => value as unknown as TokenEventRecord)
}

/** One of the caller's tokens. Throws 404 for any other. */
export async function findToken(
  { store, partition }: CallerContext,
  tokenId: string,
): Promise<Stored<TokenRecord>> {
  const found = await load<TokenRecord>(store, partition, TOKENS, tokenId)
  if (!found) throw noToken(tokenId)
  return found
}

/** All tokens of a user, oldest first. */
export async function tokensOf(
  store: Store,
  partition: string,
): Promise<readonly (Token & Stored<TokenRecord>)[]> {
  const [tokens, defaults] = await Promise.all([
    loadAll<TokenRecord>(store, TOKENS, { partition }),
    loadAll<DefaultRecord>(store, DEFAULTS, { partition }),
  ])
  const chosen = new Set(defaults.map(({ record }) => record.tokenId))
  // Ids increase with time.
  return tokens.map((token) => ({ ...token, isDefault: chosen.has(token.record.id) }))
}

interface DefaultRecord {
  /** The provider's key. */
  readonly id: string
  readonly tokenId: string
}

/** The document that makes a token the default. Undefined if it is not the default. */
export async function loadDefault(
  store: Store,
  partition: string,
  { id, providerKey }: TokenRecord,
): Promise<Stored<DefaultRecord> | undefined> {
  const found = await load<DefaultRecord>(store, partition, DEFAULTS, providerKey)
  return found?.record.tokenId === id ? found : undefined
}

export const makeDefault = ({ providerKey, id }: TokenRecord): Op =>
  put(DEFAULTS, providerKey, { id: providerKey, tokenId: id } satisfies DefaultRecord)

/** The guards and ops for a commit that removes a default, unless another token has become it. */
export const clearDefault = (found: Stored<DefaultRecord> | undefined) => ({
  guards: found ? [unchanged(DEFAULTS, found)] : [],
  ops: found ? [{ op: 'delete', collection: DEFAULTS, id: found.record.id } as const] : [],
})

/** Indexed by its provider, so that removing the provider removes the token. */
export const putToken = (record: TokenRecord): Op =>
  put(TOKENS, record.id, record, { index: { provider: record.providerKey } })

export const expiryOf = (at: number, expiresInSeconds: number | undefined): number | null =>
  expiresInSeconds === undefined ? null : at + expiresInSeconds * 1_000

const contextOf = (tokenId: string): string => `oauth-token:${tokenId}`

export const sealToken = (
  { secrets }: AuthContext,
  tokenId: string,
  accessToken: string,
  refreshToken: string | undefined,
) =>
  secrets.seal(contextOf(tokenId), [
    { name: 'access_token', value: accessToken },
    ...(refreshToken === undefined ? [] : [{ name: 'refresh_token', value: refreshToken }]),
  ])

export async function openToken({ secrets }: AuthContext, token: TokenRecord) {
  const opened = await secrets.open(contextOf(token.id), token.secrets)
  const { access_token: accessToken = '', refresh_token: refreshToken } = Object.fromEntries(
    opened.map(({ name, value }): [string, string | undefined] => [name, value]),
  )
  return { accessToken, refreshToken }
}

/** Which of the caller's tokens an agent uses, oldest first. */
export async function listConnections(
  { store, partition }: CallerContext,
  agentId: string,
): Promise<readonly Connection[]> {
  const [connections, tokens] = await Promise.all([
    connectionsOf(store, partition, agentId),
    tokensOf(store, partition),
  ])
  // Ids increase with time.
  return connections.flatMap((record): Connection[] => {
    const token = tokens.find((one) => one.record.id === record.tokenId)?.record
    return token ? [{ record, token }] : []
  })
}

export const connect = (context: CallerContext, agentId: string, tokenId: string): Promise<Connection> =>
  retryConflicts(async () => {
    const { store, partition, now } = context
    const token = await findToken(context, tokenId)
    const connections = await connectionsOf(store, partition, agentId)
    const known = connections.find((record) => record.tokenId === tokenId)
    if (known) return { record: known, token: token.record }
    const at = now()
    const record = { id: uuid7(at), agentId, tokenId, createdBy: context.id, createdAt: at }
    await store.commit(partition, {
      guards: [unchanged(TOKENS, token)],
      ops: [put(CONNECTIONS, record.id, record)],
    })
    return { record, token: token.record }
  })

export async function disconnect(
  { store, partition }: CallerContext,
  agentId: string,
  connectionId: string,
): Promise<void> {
  const found = await load<ConnectionRecord>(store, partition, CONNECTIONS, connectionId)
  if (found?.record.agentId !== agentId) throw refusal(404, `Connection ID ${connectionId} not found.`)
  await store.commit(partition, { ops: [{ op: 'delete', collection: CONNECTIONS, id: connectionId }] })
}

export const connectionsOf = async (
  store: Store,
  partition: string,
  agentId: string,
): Promise<readonly ConnectionRecord[]> =>
  (await loadAll<ConnectionRecord>(store, CONNECTIONS, { partition }))
    .map(({ record }) => record)
    .filter((record) => record.agentId === agentId)
