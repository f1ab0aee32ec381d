/** The pages that people begin with, reloaded while the agent answers: those of `docs/react.md` and of `agentwire create`. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { bundlePage, openScriptPage, problemsOf } from '../kit/site.ts'
import { gate } from '../kit/wait.ts'
import { root } from '../package/package.ts'

const PAGES = [
  { path: 'docs/snippets/react.tsx', name: 'Chat' },
  { path: 'docs/snippets/react-hooks.tsx', name: 'App' },
  { path: 'examples/start/page/chat.tsx', name: 'Chat' },
]

describe.runIf(executablePath !== undefined || process.env.CI === '1')('a reload in mid-answer', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test.each(PAGES)('keeps the conversation of $path', async ({ path, name }) => {
    const { opened, open } = gate()
    const agent = defineAgent({
      async run({ message }) {
        const answer = message()
        await answer.text('The first half')
        await opened
        await answer.text(' and the second.')
      },
    })
    const server = createAgentServer({
      agents: { agent, assistant: agent },
      defaultAgent: 'agent',
      authenticate: () => ({ id: 'page' }),
    })
    const { origin, close } = await serve(server, { port: 0, silent: true })
    const text = readFileSync(join(root, path), 'utf8')
    const code = (/\/\/ #region page\n(.*)\/\/ #endregion/s.exec(text)?.[1] ?? text)
      .replace('http://127.0.0.1:3000', origin)
      // The page of a project calls its own origin, which here serves only the page.
      .replace(/new URL\('\/agents', [^)]*\)\.href/, JSON.stringify(origin))
    const site = await openScriptPage(
      await bundlePage({
        stdin: {
          contents: `import { createRoot } from 'react-dom/client'
            ${code}
            createRoot(document.body.appendChild(document.createElement('div'))).render(<${name} />)`,
          resolveDir: dirname(join(root, path)),
          loader: 'tsx',
        },
      }),
    )
    const context = await browser.newContext()
    onTestFinished(async () => {
      open()
      await context.close()
      await site.close()
      await close()
    })
    const page = await context.newPage()
    const problems = problemsOf(page)
    await page.goto(site.origin)
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
    await page.keyboard.press('Enter')
    await page.getByText(/The first half$/).waitFor()
    await page.reload()
    await page.getByText(/The first half$/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    open()
    await page.getByText(/The first half and the second\.$/).waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.reload()
    await page.getByText(/The first half and the second\.$/).waitFor()
    expect(problems).toEqual([])
  })
})
