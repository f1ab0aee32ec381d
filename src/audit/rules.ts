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

/** A section of an RFC. */
export const rfc = (number: number, section: string): string =>
  `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`

/** An issue or discussion, by its path on GitHub, such as `honojs/node-server/issues/246`. */
export const github = (path: string): string => `https://github.com/${path}`

/** The HTML standard on event streams. */
export const sse = (section?: string): string =>
  `https://html.spec.whatwg.org/multipage/server-sent-events.html${section ? `#${section}` : ''}`

export const CSRF =
  'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html'
