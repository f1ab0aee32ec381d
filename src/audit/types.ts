/** One check: `for (const audit of audits) test(audit.name, audit.fn)`. */
export interface Audit {
  /** Stable, such as `adapter.abort.idle`. */
  readonly id: string
  readonly name: string
  /** The specification or issue that requires it. */
  readonly source?: string | undefined
  /** Rejects with `AuditError` if the check fails. */
  readonly fn: () => Promise<void>
}
