/** Checks the built site, `npx tsx test/site/check.ts`: links, its Markdown, the first hits of the search, and what axe finds. */
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { violations } from './accessibility.ts'
import { deadLinks } from './links.ts'
import { missingMarkdown } from './markdown.ts'
import { missedGuides } from './search.ts'
import { serveSite } from './serve.ts'

async function problemsInBrowser(): Promise<string[]> {
  const site = await serveSite()
  const browser = await launchBrowser()
  try {
    return [
      ...(await missedGuides(browser, site.origin)).map((problem) => `search, ${problem}`),
      ...(await violations(browser, site.origin)).map((problem) => `accessibility, ${problem}`),
    ]
  } finally {
    await browser.close()
    await site.close()
  }
}

const needsBrowser = executablePath !== undefined || process.env.CI === '1'
if (!needsBrowser)
  console.warn('No chromium on the path: search and accessibility of the site are not checked.')
const problems = [
  ...deadLinks().map((problem) => `dead link, ${problem}`),
  ...missingMarkdown().map((problem) => `Markdown, ${problem}`),
  ...(needsBrowser ? await problemsInBrowser() : []),
]
for (const problem of problems) console.error(problem)
console.log(
  problems.length === 0
    ? 'The site has no dead links, its search finds the guides, and axe finds nothing.'
    : `${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1
