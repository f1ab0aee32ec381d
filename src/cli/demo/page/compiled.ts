/** The page as one document, and the hashes of its script and style for its policy. */
export interface CompiledChat {
  readonly html: string
  /** Such as `sha256-…`. */
  readonly scriptHash: string
  readonly styleHash: string
}

/** Undefined in the sources: .ci/pages.ts puts the compiled page here in builds and tests. */
export const CHAT: CompiledChat | undefined = undefined
