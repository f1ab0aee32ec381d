import { HttpError, type Principal } from '../../../http/index.ts'
import type { Table } from '../../../options.ts'

/** Who a key or a token stands for. */
export interface Caller {
  /** Such as `ci`. */
  readonly id: string
  /** The workspace whose deployments it sees. Default: it has its own, by its id. */
  readonly tenant?: string | undefined
  /** Of a key for several workspaces: each request names one of them in `X-Tenant-Id`. */
  readonly tenants?: readonly string[] | undefined
  readonly [claim: string]: unknown
}

export const CALLER: Table = { id: ['required', 'string'], tenant: 'string', tenants: 'list', '*': 'any' }

/** The principal of a request, in the tenant that the request names. Throws `HttpError` 403 where it may not be there. */
export function principalOf(request: Request, { tenants, ...caller }: Caller): Principal {
  const named = request.headers.get('x-tenant-id')?.trim() || undefined
  if (tenants === undefined) {
    // A caller without a tenant has a workspace of its own, whatever its client is set up to send.
    if (named === undefined || caller.tenant === undefined || same(named, caller.tenant)) return caller
    throw forbidden('The credentials are not valid for the workspace of X-Tenant-Id.')
  }
  if (named === undefined) {
    throw forbidden(
      'The credentials are for several workspaces: this requires workspace specification, in X-Tenant-Id.',
    )
  }
  const tenant = tenants.find((known) => same(named, known))
  if (tenant === undefined) throw forbidden('The credentials are not valid for the workspace of X-Tenant-Id.')
  return { ...caller, tenant }
}

/** Tenants are UUIDs most of the time, which may be written in capitals. */
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const forbidden = (message: string) => new HttpError(403, 'forbidden', message)
