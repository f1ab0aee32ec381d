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

export const { version } = manifest

/** Where the site is published, with a slash at the end. Without it, pages have no canonical address. */
export const homepage = manifest.homepage?.replace(/\/?$/, '/')

/** Such as `https://github.com/owner/name`. */
export const repositoryUrl = manifest.repository?.url.replace(/^git\+|\.git$/g, '')
