/** Why a single value is rejected. */
export interface Fault {
  /** Such as `missing` or `int_parsing`. */
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** One problem of a request, in the format of FastAPI with Pydantic 2. */
export interface Problem extends Fault {
  /** `body`, `query` or `path`, then the names and indexes that lead to the value. */
  readonly loc: readonly (string | number)[]
  readonly input: unknown
}

/** A value after reading, or why it cannot be read. */
export type Outcome = { readonly value: unknown; readonly fault?: undefined } | { readonly fault: Fault }

export const accept = (value: unknown): Outcome => ({ value })

export const refuse = (type: string, msg: string, ctx?: Fault['ctx']): Outcome => ({
  fault: { type, msg, ...(ctx && { ctx }) },
})

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
