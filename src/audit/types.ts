/** One thing that must hold: `for (const audit of audits) test(audit.name, audit.fn)`. */
export interface Audit {
  /** Stable, such as `adapter.abort.idle`. */
  readonly id: string
  readonly name: string
  /** Where it is required or was first seen to fail: a specification or an issue. */
  readonly source?: string | undefined
  /** Rejects with `AuditError` where it does not hold. */
  readonly fn: () => Promise<void>
}
