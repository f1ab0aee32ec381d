import { toHex } from '../../../core/bytes.ts'
import { AgentwireError } from '../../../core/errors.ts'
import { type Authenticate, HttpError, type Principal } from '../../../core/http/index.ts'
import { checkOptions, type Table } from '../../../core/options.ts'

/** The owner of a key or token. */
export interface Caller {
  /** Such as `ci`. */
  readonly id: string
  /** The workspace whose deployments the caller sees. Default: its own, named by its id. */
  readonly tenant?: string | undefined
  /** For a key to several workspaces: each request names one of them in `X-Tenant-Id`. */
  readonly tenants?: readonly string[] | undefined
  readonly [claim: string]: unknown
}

const CALLER: Table = { id: ['required', 'string'], tenant: 'string', tenants: 'list', '*': 'any' }

const encoder = new TextEncoder()

/**
 * Accepts requests with one of the keys in `X-Api-Key`. Keys are compared by their SHA-256, so that response
 * times reveal nothing about them. Throws `AgentwireError` `invalid_argument` for an empty key.
 */
export function apiKeys(keys: Readonly<Record<string, Caller>>): Authenticate {
  checkOptions('apiKeys', keys, { '*': CALLER })
  if (Object.keys(keys).some((key) => key.trim() === '')) {
    throw new AgentwireError('invalid_argument', 'apiKeys: a key must not be empty.')
  }
  let digests: Promise<ReadonlyMap<string, Caller>> | undefined
  const authenticate = async (request: Request) => {
    const key = request.headers.get('x-api-key')
    if (!key) return null
    // Not earlier: Workers allow no asynchronous work while a module is loaded.
    const known = await (digests ??= digestsOf(keys))
    const caller = known.get(await digestOf(key))
    return caller ? principalOf(request, caller) : null
  }
  return Object.assign(authenticate, {
    schemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } as const,
  })
}

const digestsOf = async (keys: Readonly<Record<string, Caller>>): Promise<ReadonlyMap<string, Caller>> =>
  new Map(
    await Promise.all(
      Object.entries(keys).map(async ([key, caller]) => [await digestOf(key), caller] as const),
    ),
  )

const digestOf = async (key: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(key.trim()))))

/** Returns the owner of a token, or null for an invalid one. If it throws, the response is 500. */
export type VerifyToken = (token: string) => Caller | null | Promise<Caller | null>

/**
 * Accepts `Authorization: Bearer` with a token that `verify` accepts, such as `verifyJwt` of
 * `agentwire/control-plane/jwt`.
 */
export function bearer(verify: VerifyToken): Authenticate {
  const authenticate = async (request: Request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '') ?? []
    const caller = token === undefined ? null : await verify(token)
    return caller && principalOf(request, caller)
  }
  return Object.assign(authenticate, {
    schemes: { BearerAuth: { type: 'http', scheme: 'bearer' } } as const,
  })
}

/**
 * Accepts what any of them accepts: `either(apiKeys({ … }), bearer(verify))`. The first that accepts the
 * caller decides.
 */
export function either(...ways: readonly Authenticate[]): Authenticate {
  const authenticate: Authenticate = async (request) => {
    for (const way of ways) {
      const principal = await way(request)
      if (principal !== null) return principal
    }
    return null
  }
  return Object.assign(authenticate, { schemes: Object.assign({}, ...ways.map(({ schemes }) => schemes)) })
}

/**
 * The principal of a request, in the tenant that the request names. Throws `HttpError` 403 for another
 * tenant.
 */
function principalOf(request: Request, { tenants, ...caller }: Caller): Principal {
  const named = request.headers.get('x-tenant-id')?.trim() || undefined
  if (tenants === undefined) {
    // A caller without a tenant has its own workspace, whatever tenant its client sends.
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

/** Tenants are usually UUIDs, which may be in upper case. */
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const forbidden = (message: string) => new HttpError(403, 'forbidden', message)
