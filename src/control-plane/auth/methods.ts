import { connect, disconnect, listConnections } from './connections.ts'
import { authenticate } from './flows/authenticate.ts'
import { waitForFlow } from './flows/wait.ts'
import {
  changeProvider,
  createProvider,
  findProvider,
  listProviders,
  removeProvider,
} from './manage-providers.ts'
import type { ProviderAnswer } from './oauth-client.ts'
import { discoverProvider } from './providers/mcp.ts'
import type { FlowRecord, ProviderRecord } from './records.ts'
import type { AuthCaller, AuthContext, CallerContext } from './service.ts'
import { tenantPartition, userKeyOf, userPartition } from './stored.ts'
import { hasWorkspaceToken, removeToken, removeTokens, removeWorkspaceToken } from './tokens/removal.ts'
import { changeToken, importToken, listEvents, listTokens } from './tokens/tokens.ts'

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
  /** The methods for a caller. */
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
