/** One thing that must hold in a context. */
export interface Rule<Context> {
  readonly id: string
  readonly name: string
  readonly check: (context: Context) => Promise<void>
}

/** How the rules of a file are checked, by their ids. */
export type Checks<Id extends string, Context> = Readonly<Record<Id, Rule<Context>['check']>>

/** The rules of a file: what must hold, and how it is checked. */
export const rulesOf = <Id extends string, Context>(
  names: Readonly<Record<Id, string>>,
  checks: Checks<Id, Context>,
): readonly Rule<Context>[] =>
  (Object.keys(names) as Id[]).map((id) => ({ id, name: names[id], check: checks[id] }))
