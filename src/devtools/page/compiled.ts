/** The page as one document and a script for later, with the hashes of the scripts and the style for its policy. */
export interface CompiledPage {
  readonly html: string
  /** Such as `sha256-…`. */
  readonly scriptHash: string
  readonly styleHash: string
  /** The script that the page loads when somebody opens a graph: it is a third of all. */
  readonly layout: { readonly script: string; readonly hash: string }
}

/** Undefined in the sources: devtools-page.config.ts puts the compiled page here in builds and tests. */
export const PAGE: CompiledPage | undefined = undefined
