import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import type { HttpOptions } from '../../src/faces/kit/index.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { bundlePage, openScriptPage, problemsOf } from '../kit/site.ts'

describe.runIf(executablePath !== undefined || process.env.CI === '1')('a React page on another port', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof openScriptPage>>
  let openAiSite: typeof site

  beforeAll(async () => {
    const script = await bundle('cors-page.tsx')
    site = await openScriptPage(script)
    const entryPoints = [fileURLToPath(new URL('openai-page.ts', import.meta.url))]
    openAiSite = await openScriptPage(await bundlePage({ entryPoints }))
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await openAiSite?.close()
  })

  test('streams from serve as it is', async () => {
    const { page, problems, goOn } = await open()
    await page.getByText('Hello', { exact: true }).waitFor()
    goOn()
    await page.getByText('Hello there', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  test('streams with cookies where http.cors names its origin', async () => {
    const cors = { origins: [site.origin], credentials: true }
    const { page, problems, goOn } = await open({ cors })
    goOn()
    await page.getByText('Hello there', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  test('is refused by the browser where http.cors is false', async () => {
    const { problems } = await open({ cors: false })
    await expect.poll(() => problems.join('\n')).toContain('blocked by CORS policy')
  })

  test('calls serve as it is with the client of OpenAI', async () => {
    const { page, problems, goOn } = await open(undefined, openAiSite)
    goOn()
    await page.getByText('chat: Hello there', { exact: true }).waitFor()
    await page.getByText('response: Hello there', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  /** The page, after a click on its button; `goOn` lets the agent say its second word. */
  async function open(http?: HttpOptions, at = site) {
    let goOn = () => {}
    const second = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const agent = defineAgent({
      async run({ message }) {
        const answer = message()
        await answer.text('Hello')
        await second
        await answer.text(' there')
      },
    })
    const server = createAgentServer({
      agents: { agent },
      faces: [openAi()],
      http,
      authenticate: () => ({ id: 'page' }),
    })
    const { origin, close } = await serve(server, { port: 0, silent: true })
    const page = await browser.newPage()
    onTestFinished(async () => {
      goOn()
      await page.close()
      await close()
    })
    const problems = problemsOf(page)
    page.setDefaultTimeout(30_000)
    await page.goto(`${at.origin}/?api=${encodeURIComponent(origin)}`)
    await page.getByRole('button', { name: 'Send' }).click()
    return { page, problems, goOn }
  }
})

/** The page with the call of `useStream` that docs/react.md shows, at the server of the test. */
async function bundle(name: string): Promise<string> {
  const call = /useStream\(\{.*?\}\)/s
  const guide = readFileSync(new URL('../../docs/react.md', import.meta.url), 'utf8')
  const source = readFileSync(new URL(name, import.meta.url), 'utf8')
  return bundlePage({
    stdin: {
      contents: source.replace(call, call.exec(guide)![0].replace(/apiUrl: '[^']*'/, 'apiUrl')),
      loader: 'tsx',
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
  })
}
