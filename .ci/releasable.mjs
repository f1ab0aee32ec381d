/** Refuses to release a package whose page on npm would have links that lead nowhere. */
import { readFileSync } from 'node:fs'

const { repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
if (!repository?.url) {
  console.error(
    'package.json has no `repository.url`. npm turns the relative links of the README into links below that address, so without it every ' +
      'link to docs/ leads nowhere on the page of the package. Set it to the public address of the repository, and release again.',
  )
  process.exit(1)
}
