import type { Call } from '../../../core/http/index.ts'
import { ownerOf, type Principal } from '../../../core/principal.ts'
import { routeAfter } from '../../api/route.ts'
import type { AuthService } from '../../auth/methods.ts'
import type { AuthCaller } from '../../auth/service.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { refusal } from '../../errors.ts'

/** Throws 403 if this control plane has none. */
export function authOf({ auth }: ControlPlaneContext): AuthService {
  if (auth) return auth
  throw refusal(
    403,
    'The auth service is not enabled. Set the tokenVault option of createControlPlaneHandler.',
  )
}

export const callerOf = (principal: Principal | null): AuthCaller => ({
  owner: ownerOf(principal),
  id: principal?.id ?? null,
})

/** An operation that receives the auth service for its caller. */
export const authRoute = routeAfter(async (context, { call }) => {
  const service = authOf(context)
  return { ...service, ...(await service.of(callerOf(call.principal))) }
})

/** This control plane's URL for clients, with its prefix. */
export function baseUrlOf({ publicUrl }: AuthService, { url }: Call): string {
  if (publicUrl !== undefined) return publicUrl
  return url.origin + url.pathname.slice(0, url.pathname.lastIndexOf('/v2/auth/'))
}

export const AUTH_TAG = 'Auth Service (v2)'
/** Responses with tokens must not be cached. */
export const NO_STORE = { 'cache-control': 'no-store' } as const
