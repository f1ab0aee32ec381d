import type { AuthService } from './methods.ts'
import type { AuthServiceParts } from './service.ts'

/** Made by `tokenVault` of `agentwire/control-plane/oauth`. */
export interface TokenVault {
  /** @internal */
  readonly open: unknown
}

/** The auth service of a vault. Its types follow from the schemas of the API, so they are internal. */
export const openVault = (vault: TokenVault, parts: AuthServiceParts): AuthService =>
  (vault.open as (parts: AuthServiceParts) => AuthService)(parts)
