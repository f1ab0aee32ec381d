/** The page, a script that it loads later, and the hashes of scripts and style for its policy. */
export interface CompiledPage {
  readonly html: string
  /** Such as `sha256-…`. */
  readonly scriptHash: string
  readonly styleHash: string
  /** The script that the page loads when a graph is opened: a third of all code. */
  readonly layout: { readonly script: string; readonly hash: string }
}

/** Undefined in the sources: .ci/pages.ts puts the compiled page here in builds and tests. */
export const PAGE: CompiledPage | undefined = undefined
