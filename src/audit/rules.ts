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

/** One requirement, checked in a context. */
export interface Rule<Context> {
  readonly id: string
  readonly name: string
  readonly check: (context: Context) => Promise<void>
}

/** The checks of a file's rules, by rule id. */
export type Checks<Id extends string, Context> = Readonly<Record<Id, Rule<Context>['check']>>

/** The rules of a file, from their names and their checks. */
export const rulesOf = <Id extends string, Context>(
  names: Readonly<Record<Id, string>>,
  checks: Checks<Id, Context>,
): readonly Rule<Context>[] =>
  (Object.keys(names) as Id[]).map((id) => ({ id, name: names[id], check: checks[id] }))
