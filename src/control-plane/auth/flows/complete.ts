import { uuid7 } from '../../../core/ids.ts'
import { ConflictError } from '../../../storage/index.ts'
import { ProviderError, refusal } from '../../errors.ts'
import { retryConflicts } from '../../records/docs.ts'
import { clientSecretOf, endpointsOf, providerFor } from '../endpoints.ts'
import type { Grant, ProviderAnswer } from '../oauth-client.ts'
import {
  eventOp,
  FLOWS,
  type FlowRecord,
  load,
  put,
  type Stored,
  TOKENS,
  type TokenRecord,
  tenantPartition,
  unchanged,
  userPartition,
  WORKSPACE_TOKENS,
} from '../records.ts'
import type { AuthCaller, AuthContext } from '../service.ts'
import { SLACK } from '../tokens/removal.ts'
import { expiryOf, makeDefault, putToken, sealToken } from '../tokens/tokens.ts'
import { flowContext, putFlow, verifyState } from './begin.ts'

/** Whether a caller may complete a sign-in and receive its token. */
export const isParty = (flow: FlowRecord, { owner, id }: AuthCaller): boolean =>
  flow.owner === owner && (flow.startedBy === id || flow.user === id)

/** Exchanges a provider's code for a token. A flow is used once, whatever its result. */
export async function completeFlow(
  context: AuthContext,
  caller: AuthCaller | undefined,
  providerId: string,
  answer: ProviderAnswer,
): Promise<FlowRecord> {
  const { store, secrets, client } = context
  const state = answer.state ?? ''
  const name = await verifyState(secrets, state, providerId)
  if (!name) throw refusal(400, 'The state was not issued for this provider.')
  const partition = userPartition(name.userKey)
  const found = await load<FlowRecord>(store, partition, FLOWS, name.flowId)
  if (!found || found.record.expiresAt <= context.now())
    throw refusal(400, 'This sign-in has expired. Start a new one.')
  if (caller && !isParty(found.record, caller))
    throw refusal(403, 'This sign-in was started by someone else.')
  if (!answer.code && !answer.error) throw refusal(400, 'The provider sent neither a code nor an error.')
  const flow = await claim(context, partition, found)
  try {
    const provider = await providerFor(context, flow.record.owner, providerId, flow.record.isPlatform)
    if (provider.id !== flow.record.providerKey || (await endpointsOf(provider)) !== flow.record.endpoints)
      throw new ProviderError('provider_changed', 'The provider was changed after this sign-in started.')
    const [verifier] = await secrets.open(flowContext(flow.record.id), flow.record.secrets)
    const clientSecret = await clientSecretOf(context, provider)
    const sent = { state, redirectUri: flow.record.redirectUri, verifier: verifier?.value }
    const grant = await client.exchange({ provider, clientSecret }, sent, answer)
    return await storeGrant(context, partition, flow, grant)
  } catch (error) {
    const known = error instanceof ProviderError ? error : undefined
    await fail(context, partition, flow, known?.code ?? 'failed', known?.message ?? 'The sign-in failed.')
    throw known ? refusal(known.isTransient ? 502 : 400, known.message) : error
  }
}

/** Claims a flow, so that no second callback can use it. */
async function claim(
  { store }: AuthContext,
  partition: string,
  found: Stored<FlowRecord>,
): Promise<Stored<FlowRecord>> {
  const used = () => refusal(400, 'This sign-in was already used. Start a new one.')
  if (found.record.status !== 'pending') throw used()
  const record: FlowRecord = { ...found.record, status: 'exchanging' }
  try {
    const { versions } = await store.commit(partition, {
      guards: [unchanged(FLOWS, found)],
      ops: [putFlow(record)],
    })
    return { ...found, record, version: versions[0]! }
  } catch (error) {
    throw error instanceof ConflictError ? used() : error
  }
}

async function storeGrant(
  context: AuthContext,
  partition: string,
  flow: Stored<FlowRecord>,
  grant: Grant,
): Promise<FlowRecord> {
  const { store, now } = context
  await storeWorkspaceToken(context, flow.record, grant)
  return retryConflicts(async () => {
    const { replaces, scopes, isDefault, agentId } = flow.record
    const known = replaces === null ? undefined : await load<TokenRecord>(store, partition, TOKENS, replaces)
    const at = now()
    const id = known?.record.id ?? uuid7(at)
    const token: TokenRecord = {
      id,
      ...commonOf(flow.record),
      accountLabel: grant.accountLabel ?? known?.record.accountLabel ?? null,
      scopes: grant.scopes ?? scopes,
      expiresAt: expiryOf(at, grant.expiresInSeconds),
      secrets: await sealToken(context, id, grant.accessToken, grant.refreshToken),
      createdAt: known?.record.createdAt ?? at,
      updatedAt: at,
    }
    const record: FlowRecord = { ...flow.record, secrets: [], status: 'completed', tokenId: token.id }
    await store.commit(partition, {
      guards: [unchanged(FLOWS, flow), ...(known ? [unchanged(TOKENS, known)] : [])],
      ops: [
        putFlow(record),
        putToken(token),
        ...(isDefault ? [makeDefault(token)] : []),
        eventOp(token, 'token_created', at, { agentId }),
      ],
    })
    return record
  })
}

/** The token fields that come from the flow. */
const commonOf = ({ providerId, providerKey, scopes, endpoints }: FlowRecord) => ({
  providerId,
  providerKey,
  requestedScopes: scopes,
  endpoints,
  metadata: null,
})

/** It belongs to the whole tenant, and replaces an earlier one. */
async function storeWorkspaceToken(
  context: AuthContext,
  flow: FlowRecord,
  { workspaceToken, accountLabel }: Grant,
): Promise<void> {
  if (!workspaceToken) return
  const at = context.now()
  const id = uuid7(at)
  const token: TokenRecord = {
    id,
    ...commonOf(flow),
    accountLabel,
    scopes: workspaceToken.scopes,
    expiresAt: null,
    secrets: await sealToken(context, id, workspaceToken.value, undefined),
    createdAt: at,
    updatedAt: at,
  }
  await context.store.commit(await tenantPartition(flow.owner), {
    ops: [put(WORKSPACE_TOKENS, SLACK, token)],
  })
}

/** Ends a flow without a token. Writes nothing if the flow has already ended. */
async function fail(
  { store, now }: AuthContext,
  partition: string,
  flow: Stored<FlowRecord>,
  reason: string,
  detail: string,
): Promise<void> {
  const record: FlowRecord = { ...flow.record, secrets: [], status: 'failed', error: reason }
  try {
    await store.commit(partition, {
      guards: [unchanged(FLOWS, flow)],
      ops: [
        putFlow(record),
        eventOp(record, 'authorization_failed', now(), { agentId: record.agentId, reason, detail }),
      ],
    })
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
  }
}
