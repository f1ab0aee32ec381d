/** One thing that is wrong with a request, as FastAPI with Pydantic 2 writes it. */
export interface Problem {
  /** Such as `missing` or `int_parsing`. */
  readonly type: string
  /** `body`, `query` or `path`, then the names and indexes that lead to the value. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

export type Checked<T> =
  | { readonly value: T; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] }
