import { uuid7 } from '../../ids.ts'
import { ConflictError } from '../../storage/index.ts'
import { refusal } from '../errors.ts'
import { retryConflicts } from '../records/retry-conflicts.ts'
import { tenantIdOf } from '../records/tenant.ts'
import type { AuthContext } from './context.ts'
import { noProvider } from './errors.ts'
import { checkEndpoint, checkRedirectUri } from './providers/endpoints.ts'
import { sealClientSecret } from './providers/lookup.ts'
import type { ProviderRecord } from './records.ts'
import type { AuthService, NewProvider, ProviderChange } from './service.ts'
import { load, loadAll, PROVIDERS, put, tenantPartition, unchanged, WORKSPACE_TOKENS } from './stored.ts'
import { loadWorkspaceToken, removeAllTokens, SLACK } from './tokens/removal.ts'

export type ProviderMethods = Pick<
  AuthService,
  'listProviders' | 'findProvider' | 'createProvider' | 'changeProvider' | 'removeProvider'
>

/** A tenant's providers. */
export function providerMethods(context: AuthContext): ProviderMethods {
  const { store, now } = context

  const find = async (owner: string | null, providerId: string) => {
    const found = await load<ProviderRecord>(store, await tenantPartition(owner), PROVIDERS, providerId)
    if (!found) throw noProvider(providerId)
    return found
  }

  return {
    async listProviders(owner) {
      const found = await loadAll<ProviderRecord>(store, PROVIDERS, {
        partition: await tenantPartition(owner),
      })
      return found.map(({ record }) => record).sort((a, b) => a.createdAt - b.createdAt)
    },

    findProvider: async (owner, providerId) => (await find(owner, providerId)).record,

    createProvider: (owner, given) => createProvider(context, owner, given, {}),

    changeProvider: (owner, providerId, change) =>
      retryConflicts(async () => {
        const found = await find(owner, providerId)
        const { clientSecret, ...rest } = change
        const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
        const next: ProviderRecord = { ...found.record, ...given, updatedAt: now() }
        checkProvider(context, change)
        if (next.tokenUrl !== found.record.tokenUrl && next.secrets.length > 0 && clientSecret === undefined)
          throw refusal(400, 'A provider that gets another token_url needs its client_secret once more.')
        // What the metadata of the old server said does not hold for another one.
        const isMoved = next.tokenUrl !== found.record.tokenUrl || next.authUrl !== found.record.authUrl
        const unknown = { revocationUrl: null, issuer: null, sendsIssuer: false }
        const record = {
          ...next,
          ...(isMoved && unknown),
          ...(clientSecret !== undefined && {
            secrets: await sealClientSecret(context, next.id, clientSecret),
          }),
        }
        await store.commit(await tenantPartition(owner), {
          guards: [unchangedProvider(found.version, providerId)],
          ops: [putProvider(record)],
        })
        return record
      }),

    async removeProvider(owner, providerId) {
      const { record } = await find(owner, providerId)
      const partition = await tenantPartition(owner)
      await removeAllTokens(context, record)
      await retryConflicts(async () => {
        const found = await load<ProviderRecord>(store, partition, PROVIDERS, providerId)
        if (found?.record.id !== record.id) return
        const isWorkspace = (await loadWorkspaceToken(context, owner))?.providerKey === record.id
        await store.commit(partition, {
          guards: [unchangedProvider(found.version, providerId)],
          ops: [
            { op: 'delete', collection: PROVIDERS, id: providerId },
            ...(isWorkspace ? [{ op: 'delete', collection: WORKSPACE_TOKENS, id: SLACK } as const] : []),
          ],
        })
      })
      // A sign-in may have ended meanwhile.
      await removeAllTokens(context, record)
    },
  }
}

/** What is known of a provider whose metadata was read. */
export type Discovered = Partial<
  Pick<
    ProviderRecord,
    'revocationUrl' | 'issuer' | 'sendsIssuer' | 'resource' | 'mcpServerUrl' | 'isDynamicClient'
  >
>

/** Throws 409 where the tenant has one of this `providerId`. */
export async function createProvider(
  context: AuthContext,
  owner: string | null,
  given: NewProvider,
  discovered: Discovered,
): Promise<ProviderRecord> {
  const { store, now } = context
  checkProvider(context, given)
  const at = now()
  const { clientSecret, ...rest } = given
  const id = uuid7(at)
  const record: ProviderRecord = {
    ...rest,
    id,
    organizationId: await tenantIdOf(owner),
    secrets: clientSecret === null ? [] : await sealClientSecret(context, id, clientSecret),
    revocationUrl: null,
    issuer: null,
    sendsIssuer: false,
    resource: null,
    mcpServerUrl: null,
    isDynamicClient: false,
    ...discovered,
    createdAt: at,
    updatedAt: at,
  }
  try {
    await store.commit(await tenantPartition(owner), {
      guards: [{ guard: 'absent', collection: PROVIDERS, id: given.providerId }],
      ops: [putProvider(record)],
    })
  } catch (error) {
    if (error instanceof ConflictError)
      throw refusal(409, `OAuth provider ID ${given.providerId} already exists.`)
    throw error
  }
  return record
}

/** The parameters that a provider's own may not replace. */
const RESERVED = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'request',
  'request_uri',
  'nonce',
]

/** Throws 400 for what would send users or secrets to a wrong place. */
function checkProvider({ allowLoopback }: AuthContext, given: Partial<NewProvider> | ProviderChange): void {
  if (given.authUrl !== undefined) checkEndpoint('auth_url', given.authUrl, allowLoopback)
  if (given.tokenUrl !== undefined) checkEndpoint('token_url', given.tokenUrl, allowLoopback)
  for (const uri of given.allowedRedirectUris ?? []) checkRedirectUri(uri)
  if (given.defaultRedirectUri != null) checkRedirectUri(given.defaultRedirectUri)
  const reserved = Object.keys(given.authorizationParams ?? {}).find((name) => RESERVED.includes(name))
  if (reserved !== undefined)
    throw refusal(
      400,
      `authorization_params cannot set '${reserved}': the authorization request sets it itself.`,
    )
}

// The id of the document is the name in URLs.
const putProvider = (record: ProviderRecord) => put(PROVIDERS, record.providerId, record)
const unchangedProvider = (version: number, id: string) => unchanged(PROVIDERS, { record: { id }, version })
