import { connect, disconnect, listConnections } from './connections.ts'
import { authenticate } from './flows/authenticate.ts'
import { completeFlow } from './flows/complete.ts'
import { waitForFlow } from './flows/wait.ts'
import {
  changeProvider,
  createProvider,
  findProvider,
  listProviders,
  removeProvider,
} from './manage-providers.ts'
import { discoverProvider } from './providers/mcp.ts'
import type { ProviderRecord } from './records.ts'
import type { AuthContext } from './service.ts'
import { hasWorkspaceToken, removeToken, removeTokens, removeWorkspaceToken } from './tokens/removal.ts'
import { changeToken, importToken, listEvents, listTokens } from './tokens/tokens.ts'

/** What the operations of the auth service call. What they refuse, they throw as `HttpError`. */
const METHODS = {
  listProviders,
  findProvider,
  createProvider,
  changeProvider,
  removeProvider,
  discoverProvider,
  authenticate,
  wait: waitForFlow,
  complete: completeFlow,
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
    context: AuthContext,
    ...given: infer Given
  ) => infer Result
    ? (...given: Given) => Result
    : never
}

export interface AuthService extends Methods {
  /** Where the browser goes after a sign-in. Undefined: it is shown a page. */
  readonly returnUrl: string | undefined
  /** Where clients reach this control plane. Undefined: where the request was sent to. */
  readonly publicUrl: string | undefined
  readonly platformProviders: readonly ProviderRecord[]
  /** Ends its long polls. */
  close(): Promise<void>
}

/** The methods with their context. */
export const methodsOf = (context: AuthContext): Methods =>
  Object.fromEntries(
    Object.entries(METHODS).map(([name, method]) => [
      name,
      (...given: never[]) => (method as (...all: unknown[]) => unknown)(context, ...given),
    ]),
  ) as unknown as Methods
