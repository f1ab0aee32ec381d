import type { AuthService } from './methods.ts'
import type { AuthServiceParts } from './service.ts'

/** Made by `tokenVault` of `agentwire/control-plane/oauth`. */
export interface TokenVault {
  /** @internal */
  readonly open: unknown
}

/** The auth service of a control plane. Its types are none of the package's: they follow from the schemas of the API. */
export const openVault = (vault: TokenVault, parts: AuthServiceParts): AuthService =>
  (vault.open as (parts: AuthServiceParts) => AuthService)(parts)
