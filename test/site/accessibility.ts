import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'

const PAGES = ['/', '/docs/quick-start', '/docs/users', '/reference/', '/reference/agentwire/react']
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(): Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>
}

/** What axe finds on a page of each kind, in both colors. */
export async function violations(browser: Browser, origin: string): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    for (const path of PAGES) {
      await page.goto(origin + path, { waitUntil: 'load' })
      await page.locator('h1').waitFor()
      await page.evaluate(AXE)
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run())
      for (const { id, nodes } of violations)
        found.push(`${path} (${colorScheme}) ${id}: ${nodes[0]!.html} and ${nodes.length - 1} more`)
    }
    await context.close()
  }
  return found
}
