import { type MetadataFilter, passes } from './metadata-filter.ts'

/** Who a request comes from. Threads, runs, state and streams belong to `tenant` when it is set, else to `id`. */
export interface Principal {
  readonly id: string
  readonly tenant?: string | undefined
  readonly [claim: string]: unknown
}

/**
 * The owner of all that is made under an `Auth` of LangGraph, where filters alone decide who sees what. As a principal, it is code of the
 * server that acts for all users.
 */
export const EVERYONE: Principal = { id: 'agentwire:everyone' }

/** What a caller reaches: the things of an owner, and of these the ones whose metadata pass the filter. */
export interface Access {
  /** Null is the owner of all that is made without authentication. */
  readonly owner: string | null
  /** Undefined: all that is the owner's. */
  readonly metadataFilter: MetadataFilter | undefined
}

/** What is known of a principal beside its claims. It is a symbol so that it is neither stored nor sent, and no claim can be mistaken for it. */
const STANDING = /* @__PURE__ */ Symbol.for('agentwire.standing')

interface Standing extends Access {
  /** What agents are told of the user, where that is not the principal. */
  readonly user?: Readonly<Record<string, unknown>> | undefined
}

type Caller = Principal | null | undefined

const standingOf = (principal: Caller): Standing | undefined =>
  (principal as { readonly [STANDING]?: Standing } | null | undefined)?.[STANDING]

/** What a principal may reach: of its tenant, else of its own. Without authentication there is one owner, null. */
export function accessOf(principal: Caller): Access {
  const { owner, metadataFilter } = standingOf(principal) ?? {
    owner: principal ? (principal.tenant ?? principal.id) : null,
    metadataFilter: undefined,
  }
  return { owner, metadataFilter }
}

export const ownerOf = (principal: Caller): string | null => accessOf(principal).owner

/** Whose the names are that clients choose, such as idempotency keys: the owner's, or each user's own where they share one owner. */
export function namesOwnerOf(principal: Caller): string | null {
  const owner = ownerOf(principal)
  return principal && owner === EVERYONE.id ? principal.id : owner
}

/** What agents are told of the user. */
export const userOf = (principal: Principal): Readonly<Record<string, unknown>> =>
  standingOf(principal)?.user ?? principal

/** The principal with another standing. What is left out stays as it is. */
export const withStanding = (principal: Principal, standing: Partial<Standing>): Principal => ({
  ...principal,
  [STANDING]: { ...accessOf(principal), ...standingOf(principal), ...standing },
})

/** The principal with all that is its owner's: for what it has just made itself, and for looking what a permission is to be asked for. */
export const unbounded = (principal: Principal | null): Principal | null =>
  principal && withStanding(principal, { metadataFilter: undefined })

/** Whether somebody with this access may know of a thing. To all others it does not exist. */
export const reaches = (
  { owner, metadataFilter }: Access,
  thing: { readonly owner: string | null; readonly metadata: Readonly<Record<string, unknown>> },
): boolean => thing.owner === owner && passes(metadataFilter, thing.metadata)
