/** SQL with a `?` for each value, in the order of the values. */
export interface SqlStatement<Value> {
  readonly text: string
  readonly values: readonly Value[]
}
