import { watchChanges } from '../../../storage/coordination/changes.ts'
import { ConflictError } from '../../../storage/index.ts'
import { ProviderError, refusal } from '../../errors.ts'
import { retryConflicts } from '../../records/docs.ts'
import { clientSecretOf, endpointsOf } from '../endpoints.ts'
import {
  eventOp,
  load,
  type ProviderRecord,
  type Stored,
  TOKENS,
  type TokenRecord,
  unchanged,
} from '../records.ts'
import type { AuthContext } from '../service.ts'
import { expiryOf, openToken, putToken, sealToken } from './tokens.ts'

/** A token is refreshed this long before it expires, so that it outlives its request. In milliseconds. */
const EARLY_MS = 60_000

/** After this time, in milliseconds, a refresh that has started counts as lost, with its process. */
const REFRESH_MS = 30_000

/**
 * A usable token, refreshed if necessary. Undefined if it has expired for good. Only one instance at a time
 * sends a refresh token, because providers that rotate them treat a second use as theft. Throws 502 if the
 * provider cannot be reached.
 */
export async function usableToken(
  context: AuthContext,
  partition: string,
  tokenId: string,
  provider: ProviderRecord,
): Promise<{ readonly record: TokenRecord; readonly value: string } | undefined> {
  const { store, now, closing } = context
  const changes = watchChanges(store, partition)
  const begun = now()
  let wasRefreshed = false
  try {
    for (;;) {
      const found = await load<TokenRecord>(store, partition, TOKENS, tokenId)
      if (!found) return undefined
      const { record } = found
      const { accessToken, refreshToken } = await openToken(context, record)
      const at = now()
      const left = (record.expiresAt ?? Infinity) - at
      const mayRefresh = refreshToken !== undefined && record.endpoints === (await endpointsOf(provider))
      // A new token is used however short its lifetime is: the next one would have the same.
      const isNew = mayRefresh && (wasRefreshed || (left > 0 && record.updatedAt > begun))
      if (left > EARLY_MS || isNew || (left > 0 && !mayRefresh)) return { record, value: accessToken }
      if (!mayRefresh) return undefined
      const busyFor = (record.refreshingUntil ?? 0) - at
      if (busyFor > 0) {
        if (closing.aborted) throw refusal(503, 'This server is shutting down.')
        await changes.next(busyFor, closing)
      } else if (await begin(context, partition, found, at)) {
        await refresh(context, partition, record, provider, refreshToken)
        wasRefreshed = true
      }
    }
  } finally {
    changes.close()
  }
}

/** False if another instance was first. */
async function begin(
  { store }: AuthContext,
  partition: string,
  found: Stored<TokenRecord>,
  at: number,
): Promise<boolean> {
  try {
    await store.commit(partition, {
      guards: [unchanged(TOKENS, found)],
      ops: [putToken({ ...found.record, refreshingUntil: at + REFRESH_MS })],
    })
    return true
  } catch (error) {
    if (error instanceof ConflictError) return false
    throw error
  }
}

async function refresh(
  context: AuthContext,
  partition: string,
  token: TokenRecord,
  provider: ProviderRecord,
  refreshToken: string,
): Promise<void> {
  const { client, now } = context
  try {
    const clientSecret = await clientSecretOf(context, provider)
    const grant = await client.refresh({ provider, clientSecret }, refreshToken)
    // RFC 6749 §6: without a new refresh token, the old one stays valid.
    const next = grant.refreshToken ?? refreshToken
    const secrets = await sealToken(context, token.id, grant.accessToken, next)
    await change(context, partition, token.id, 'token_refreshed', (record) => ({
      ...record,
      secrets,
      scopes: grant.scopes ?? record.scopes,
      expiresAt: expiryOf(now(), grant.expiresInSeconds),
    }))
  } catch (error) {
    const isFinal = error instanceof ProviderError && !error.isTransient
    const kept = isFinal && (await openToken(context, token))
    // A rejected refresh token is not sent again.
    const secrets = kept ? await sealToken(context, token.id, kept.accessToken, undefined) : token.secrets
    const told = error instanceof ProviderError ? { reason: error.code, detail: error.message } : {}
    await change(
      context,
      partition,
      token.id,
      'token_refresh_failed',
      (record) => ({ ...record, secrets }),
      told,
    )
    if (isFinal) return
    throw error instanceof ProviderError ? refusal(502, error.message) : error
  }
}

const change = (
  { store, now }: AuthContext,
  partition: string,
  tokenId: string,
  type: 'token_refreshed' | 'token_refresh_failed',
  to: (record: TokenRecord) => TokenRecord,
  told: { readonly reason?: string; readonly detail?: string } = {},
): Promise<void> =>
  retryConflicts(async () => {
    const found = await load<TokenRecord>(store, partition, TOKENS, tokenId)
    if (!found) return
    const at = now()
    const record = { ...to(found.record), refreshingUntil: undefined, updatedAt: at }
    await store.commit(partition, {
      guards: [unchanged(TOKENS, found)],
      ops: [putToken(record), eventOp(record, type, at, told)],
    })
  })
