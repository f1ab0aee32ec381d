import type { AuthService } from './methods.ts'
import type { AuthServiceParts } from './service.ts'

/** Created by `tokenVault` of `agentwire/control-plane/oauth`. */
export interface TokenVault {
  /** @internal */
  readonly open: unknown
}

/** Opens a vault's auth service. Its types are derived from the API schemas, so they are internal. */
export const openVault = (vault: TokenVault, parts: AuthServiceParts): AuthService =>
  (vault.open as (parts: AuthServiceParts) => AuthService)(parts)
