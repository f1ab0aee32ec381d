/** Why a single value is refused. */
export interface Fault {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** A value as it is once it was read, or why it cannot be. */
export type Outcome = { readonly value: unknown; readonly fault?: undefined } | { readonly fault: Fault }

export const accept = (value: unknown): Outcome => ({ value })

export const refuse = (type: string, msg: string, ctx?: Fault['ctx']): Outcome => ({
  fault: { type, msg, ...(ctx && { ctx }) },
})

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
