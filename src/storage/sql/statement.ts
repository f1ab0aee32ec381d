/** SQL with a `?` for each value, in the order of the values, and table names in braces. */
export interface SqlStatement<Value> {
  readonly text: string
  readonly values: readonly Value[]
}
