/** Who a request comes from. Threads, runs, state and streams belong to `tenant` when it is set, else to `id`. */
export interface Principal {
  readonly id: string
  readonly tenant?: string | undefined
  readonly [claim: string]: unknown
}

/** Whose threads a principal sees: its tenant's, else its own. Without authentication there is one owner, null. */
export const ownerOf = (principal: Principal | null | undefined): string | null =>
  principal ? (principal.tenant ?? principal.id) : null
