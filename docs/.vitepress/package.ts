import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A file of the repository. */
export const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const manifest: {
  readonly version: string
  readonly homepage?: string
  readonly repository?: { readonly url: string }
} = JSON.parse(read('package.json'))

/** `homepage` is where the site is published. Without it, pages have no canonical address. */
export const { version, homepage } = manifest

/** Such as `https://github.com/owner/name`. */
export const repositoryUrl = manifest.repository?.url.replace(/^git\+|\.git$/g, '')
