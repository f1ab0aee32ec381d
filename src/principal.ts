import { type MetadataFilter, passes } from './metadata-filter.ts'

/**
 * Who a request comes from. Threads, runs, state and streams belong to `tenant` when it is set, else to `id`. A tenant and an id of the same
 * name are two owners.
 */
export interface Principal {
  readonly id: string
  readonly tenant?: string | undefined
  readonly [claim: string]: unknown
}

/** What a caller reaches: the things of an owner, and of these the ones whose metadata pass the filter. */
export interface Access {
  /** Null is the owner of all that is made without authentication. */
  readonly owner: string | null
  /** Undefined: all that is the owner's. */
  readonly metadataFilter: MetadataFilter | undefined
}

/** The owner of all that is made under an `Auth` of LangGraph, where filters alone decide who sees what. */
export const OWNED_BY_ALL = 'agentwire:everyone'

/** Access that the server grants a principal apart from its claims. A symbol key is neither stored nor sent, and no claim can use it. */
const ACCESS = /* @__PURE__ */ Symbol.for('agentwire.access')

interface AccessDetails extends Access {
  /** What agents are told of the user, where that is not the principal. */
  readonly user?: Readonly<Record<string, unknown>> | undefined
}

type Caller = Principal | null | undefined

const accessDetailsOf = (principal: Caller): AccessDetails | undefined =>
  (principal as { readonly [ACCESS]?: AccessDetails } | null | undefined)?.[ACCESS]

/** What a principal may reach: of its tenant, else of its own. Without authentication there is one owner, null. */
export function accessOf(principal: Caller): Access {
  const { owner, metadataFilter } = accessDetailsOf(principal) ?? {
    owner: principal ? nameOwner(principal) : null,
    metadataFilter: undefined,
  }
  return { owner, metadataFilter }
}

/** The only place that spells an owner. No name of one kind can be spelled as the other kind is. */
const nameOwner = ({ tenant, id }: Principal): string => (tenant == null ? `[id]${id}` : `[tenant]${tenant}`)

const SPELLED = /^\[(?:tenant|id)\]/

const isFormer = (owner: string): boolean => !SPELLED.test(owner) && owner !== OWNED_BY_ALL

/** The tenant or the id that an owner was made of. */
export const nameOf = (owner: string): string => owner.replace(SPELLED, '')

/**
 * The owner under which earlier versions have kept the things of this one, and those of the other kind of the same name. Undefined where
 * there is none. A name that is spelled as an owner has none either: it would reach the things of that owner.
 */
export function formerOwnerOf(owner: string | null): string | undefined {
  const name = owner !== null && SPELLED.test(owner) ? nameOf(owner) : undefined
  return name !== undefined && isFormer(name) ? name : undefined
}

/** In whose lists a thing is: in those of its owner. What an earlier version has made is in those of a tenant and of an id. */
export const listedFor = (owner: string | null): readonly (string | null)[] =>
  owner !== null && isFormer(owner) ? [`[tenant]${owner}`, `[id]${owner}`] : [owner]

/** The owner of a thing after somebody has written it: what an earlier version has made is then theirs alone. */
export const ownerAfter = (stored: string | null, writer: string | null): string | null =>
  stored !== null && formerOwnerOf(writer) === stored ? writer : stored

/** Whether what is stored under one owner belongs to another: they are the same, or one is what an earlier version has called the other. */
export const isOwnedBy = (stored: string | null, owner: string | null): boolean =>
  stored === owner ||
  (stored !== null && owner !== null && (formerOwnerOf(owner) === stored || formerOwnerOf(stored) === owner))

export const ownerOf = (principal: Caller): string | null => accessOf(principal).owner

/** Whose the names are that clients choose, such as idempotency keys: the owner's, or each user's own where they share one owner. */
export function namesOwnerOf(principal: Caller): string | null {
  const owner = ownerOf(principal)
  return principal && owner === OWNED_BY_ALL ? principal.id : owner
}

/** What agents are told of the user. */
export const userOf = (principal: Principal): Readonly<Record<string, unknown>> =>
  accessDetailsOf(principal)?.user ?? principal

/** The principal with some of its access replaced. What is left out stays as it is. */
export const withAccess = (principal: Principal, access: Partial<AccessDetails>): Principal => ({
  ...principal,
  [ACCESS]: { ...accessOf(principal), ...accessDetailsOf(principal), ...access },
})

/** Somebody whose things are those of the owner. */
export const actingFor = (owner: string | null): Principal | null =>
  owner === null ? null : withAccess({ id: nameOf(owner) }, { owner, metadataFilter: undefined })

/** As a principal, code of the server that acts for all users of an `Auth` of LangGraph. */
export const EVERYONE: Principal = /* @__PURE__ */ withAccess(
  { id: OWNED_BY_ALL },
  { owner: OWNED_BY_ALL, metadataFilter: undefined },
)

/** The principal with all that is its owner's: for what it has just made itself, and for looking what a permission is to be asked for. */
export const unbounded = (principal: Principal | null): Principal | null =>
  principal && withAccess(principal, { metadataFilter: undefined })

/** Whether somebody with this access may know of a thing. To all others it does not exist. */
export const reaches = (
  { owner, metadataFilter }: Access,
  thing: { readonly owner: string | null; readonly metadata: Readonly<Record<string, unknown>> },
): boolean => isOwnedBy(thing.owner, owner) && passes(metadataFilter, thing.metadata)
