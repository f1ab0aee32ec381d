/** The page as one document, with the hashes of its script and its style for its policy. */
export interface CompiledPage {
  readonly html: string
  /** Such as `sha256-…`. */
  readonly scriptHash: string
  readonly styleHash: string
}

/** Undefined in the sources: devtools-page.config.ts puts the compiled page here in builds and tests. */
export const PAGE: CompiledPage | undefined = undefined
