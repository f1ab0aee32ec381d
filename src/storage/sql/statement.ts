/** SQL with a `?` for each value, in the order of the values, and names of tables in braces. */
export interface SqlStatement<Value> {
  readonly text: string
  readonly values: readonly Value[]
}
