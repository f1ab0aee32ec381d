import { type MetadataFilter, passes } from './metadata-filter.ts'

/**
 * The caller of a request. Threads, runs, state and streams belong to the `tenant` if set, otherwise to the
 * `id`. A tenant and an id with the same name are two different owners.
 */
export interface Principal {
  readonly id: string
  readonly tenant?: string | undefined
  /**
   * When the credentials expire: a date, or milliseconds since 1970. Sockets and event streams end then, and
   * clients reconnect with new ones. Default: never.
   */
  readonly expiresAt?: Date | number | undefined
  readonly [claim: string]: unknown
}

/** What a caller can access: the resources of an owner whose metadata match the filter. */
export interface Access {
  /** Null owns everything that is created without authentication. */
  readonly owner: string | null
  /** Undefined: all resources of the owner. */
  readonly metadataFilter: MetadataFilter | undefined
}

/**
 * The owner of everything that is created under a LangGraph `Auth`, where only filters decide who can access
 * it.
 */
export const OWNED_BY_ALL = 'agentwire:everyone'

/**
 * Access that the server grants a principal in addition to its claims. The key is a symbol, so it is neither
 * stored nor sent, and a claim cannot set it.
 */
const ACCESS = /* @__PURE__ */ Symbol.for('agentwire.access')

interface AccessDetails extends Access {
  /** The user that agents see, if it differs from the principal. */
  readonly user?: Readonly<Record<string, unknown>> | undefined
}

type Caller = Principal | null | undefined

const accessDetailsOf = (principal: Caller): AccessDetails | undefined =>
  (principal as { readonly [ACCESS]?: AccessDetails } | null | undefined)?.[ACCESS]

/**
 * What a principal can access: the resources of its tenant if set, otherwise its own. Without authentication
 * the only owner is null.
 */
export function accessOf(principal: Caller): Access {
  const { owner, metadataFilter } = accessDetailsOf(principal) ?? {
    owner: principal ? nameOwner(principal) : null,
    metadataFilter: undefined,
  }
  return { owner, metadataFilter }
}

/** The only place that encodes an owner. The encodings of tenants and ids never collide. */
const nameOwner = ({ tenant, id }: Principal): string => (tenant == null ? `[id]${id}` : `[tenant]${tenant}`)

const SPELLED = /^\[(?:tenant|id)\]/

/** The tenant or id that an owner was encoded from. */
export const nameOf = (owner: string): string => owner.replace(SPELLED, '')

export const ownerOf = (principal: Caller): string | null => accessOf(principal).owner

/**
 * The scope of names that clients choose, such as idempotency keys: the owner, or the user if all users share
 * one owner.
 */
export function namesOwnerOf(principal: Caller): string | null {
  const owner = ownerOf(principal)
  return principal && owner === OWNED_BY_ALL ? principal.id : owner
}

/** The user that agents see. */
export const userOf = (principal: Principal): Readonly<Record<string, unknown>> =>
  accessDetailsOf(principal)?.user ?? principal

/** The principal with parts of its access replaced. Absent fields keep their values. */
export const withAccess = (principal: Principal, access: Partial<AccessDetails>): Principal => ({
  ...principal,
  [ACCESS]: { ...accessOf(principal), ...accessDetailsOf(principal), ...access },
})

/** A principal that acts for the owner. */
export const actingFor = (owner: string | null): Principal | null =>
  owner === null ? null : withAccess({ id: nameOf(owner) }, { owner, metadataFilter: undefined })

/** The principal of server code that acts for all users of a LangGraph `Auth`. */
export const EVERYONE: Principal = /* @__PURE__ */ withAccess(
  { id: OWNED_BY_ALL },
  { owner: OWNED_BY_ALL, metadataFilter: undefined },
)

/**
 * The principal with access to all resources of its owner. For resources that it has just created, and for
 * reading what a permission check needs.
 */
export const withoutMetadataFilter = (principal: Principal | null): Principal | null =>
  principal && withAccess(principal, { metadataFilter: undefined })

/** Whether a caller with this access can see a resource. For all other callers it does not exist. */
export const reaches = (
  { owner, metadataFilter }: Access,
  thing: { readonly owner: string | null; readonly metadata: Readonly<Record<string, unknown>> },
): boolean => thing.owner === owner && passes(metadataFilter, thing.metadata)
