import type { Page } from 'playwright-core'
import { serve } from '../../adapters/node.ts'
import { type Agent, type AgentServer, createAgentServer } from '../../src/index.ts'
import { launchBrowser } from '../kit/browser.ts'
import { problemsOf } from '../kit/site.ts'

/** A flow of an app, in a page of its own. */
export type Flow = (page: Page) => Promise<void>

export interface Rig {
  readonly server: AgentServer
  /** Where the agents are served. */
  readonly api: string
}

/**
 * Serves the agents, runs one flow after the other, and prints a line for each and a count. A flow fails on what the page throws, too.
 * `expected` are errors of the app itself, which it reports with every server.
 */
export async function runFlows(
  agents: Readonly<Record<string, Agent>>,
  flowsOf: (rig: Rig) => Readonly<Record<string, Flow>>,
  { port = 0, expected = [] }: { readonly port?: number; readonly expected?: readonly RegExp[] } = {},
): Promise<void> {
  const server = createAgentServer({ agents, authenticate: () => ({ id: 'ann' }) })
  const served = await serve(server, { port, silent: true, closeTimeout: 100 })
  const browser = await launchBrowser()
  let failed = 0
  const flows = Object.entries(flowsOf({ server, api: served.origin }))
  try {
    for (const [name, flow] of flows) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
      page.setDefaultTimeout(10_000)
      const problems = problemsOf(page)
      try {
        await flow(page)
        const own = problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)))
        if (own.length > 0) throw new Error(own.join('\n'))
        console.log(`ok ${name}`)
      } catch (error) {
        failed += 1
        console.error(
          `not ok ${name}\n${error}\n${problems.join('\n')}\n${await page.locator('body').innerText()}`,
        )
      } finally {
        await page.close()
      }
    }
  } finally {
    await browser.close()
    await served.close()
  }
  console.log(`${flows.length - failed} of ${flows.length} flows hold`)
  if (failed > 0) process.exitCode = 1
}
