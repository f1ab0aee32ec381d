import { watchChanges } from '../../storage/coordination/changes.ts'
import { authenticate, parseAuthId } from './flows/begin.ts'
import { isParty } from './flows/complete.ts'
import {
  changeProvider,
  createProvider,
  discoverProvider,
  findProvider,
  listProviders,
  removeProvider,
} from './manage-providers.ts'
import type { ProviderAnswer } from './oauth-client.ts'
import {
  FLOWS,
  type FlowRecord,
  load,
  type ProviderRecord,
  TOKENS,
  type TokenRecord,
  tenantPartition,
  userKeyOf,
  userPartition,
} from './records.ts'
import type { AuthCaller, AuthContext, CallerContext, Waited } from './service.ts'
import { hasWorkspaceToken, removeToken, removeTokens, removeWorkspaceToken } from './tokens/removal.ts'
import {
  changeToken,
  connect,
  disconnect,
  importToken,
  listConnections,
  listEvents,
  listTokens,
  openToken,
} from './tokens/tokens.ts'

/** The functions of the auth service's operations. Rejections are thrown as `HttpError`. */
const METHODS = {
  listProviders,
  findProvider,
  createProvider,
  changeProvider,
  removeProvider,
  discoverProvider,
  authenticate,
  wait: waitForFlow,
  listTokens,
  changeToken,
  removeToken,
  removeTokens,
  importToken,
  hasWorkspaceToken,
  removeWorkspaceToken,
  listEvents,
  listConnections,
  connect,
  disconnect,
} as const

type Methods = {
  readonly [Name in keyof typeof METHODS]: (typeof METHODS)[Name] extends (
    context: CallerContext,
    ...given: infer Given
  ) => infer Result
    ? (...given: Given) => Result
    : never
}

export interface AuthService {
  /** Where the browser goes after a sign-in. Undefined: a page of the control plane. */
  readonly returnUrl: string | undefined
  /** The control plane's URL for clients. Undefined: the URL of the request. */
  readonly publicUrl: string | undefined
  readonly platformProviders: readonly ProviderRecord[]
  of(caller: AuthCaller): Promise<Methods>
  /**
   * Completes a sign-in with a provider's response. `caller` is undefined for a browser without credentials.
   */
  complete(caller: AuthCaller | undefined, providerId: string, answer: ProviderAnswer): Promise<FlowRecord>
  /** Ends its long polls. */
  close(): Promise<void>
}

export async function methodsOf(context: AuthContext, caller: AuthCaller): Promise<Methods> {
  const [tenant, userKey] = await Promise.all([
    tenantPartition(caller.owner),
    userKeyOf(caller.owner, caller.id),
  ])
  const bound: CallerContext = { ...context, ...caller, tenant, partition: userPartition(userKey) }
  return Object.fromEntries(
    Object.entries(METHODS).map(([name, method]) => [
      name,
      (...given: never[]) => (method as (...all: unknown[]) => unknown)(bound, ...given),
    ]),
  ) as unknown as Methods
}

/** Waits until a sign-in has ended, on any instance. */
async function waitForFlow(
  context: CallerContext,
  authId: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Waited> {
  const { store, now, closing } = context
  const name = parseAuthId(authId)
  if (!name) return { status: 'not_found' }
  const partition = userPartition(name.userKey)
  const signals = signal ? [closing, signal] : [closing]
  // The monotonic clock of this process, because the wait is a duration.
  const deadline = performance.now() + timeoutMs
  const changes = watchChanges(store, partition)
  try {
    for (;;) {
      const found = await load<FlowRecord>(store, partition, FLOWS, name.flowId)
      if (!found || !isParty(found.record, context)) return { status: 'not_found' }
      const { status, tokenId, error, expiresAt } = found.record
      if (status === 'completed') {
        const token =
          tokenId === undefined ? undefined : await load<TokenRecord>(store, partition, TOKENS, tokenId)
        // Without a token, the token was deleted since.
        if (!token) return { status: 'not_found' }
        return { status, token: (await openToken(context, token.record)).accessToken }
      }
      if (status === 'failed') return { status: 'not_found', error }
      const left = Math.min(deadline - performance.now(), expiresAt - now())
      if (expiresAt <= now() || (left <= 0 && timeoutMs > 0)) return { status: 'timeout' }
      if (left <= 0 || signals.some(({ aborted }) => aborted)) return { status: 'pending' }
      await changes.next(left, ...signals)
    }
  } finally {
    changes.close()
  }
}
