import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compileChat } from '../../.ci/pages.ts'
import { createProvider } from '../../examples/offline/create-provider.ts'
import { startDemo } from '../../src/cli/demo/demo.ts'
import { violations } from '../kit/axe.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { openServer } from '../kit/listen.ts'
import { problemsOf } from '../kit/site.ts'

if (executablePath === undefined)
  console.warn('No chromium on the path: the tests of agentwire demo in a browser are skipped.')

async function demo(env: Readonly<Record<string, string | undefined>> = {}) {
  const started = await startDemo({ port: 0, storage: 'memory:', env })
  onTestFinished(() => started.close())
  return started
}

test('the page of the demo is at most 120 KiB in gzip', async () => {
  const { html } = await compileChat()
  expect(gzipSync(html).length).toBeLessThan(120 * 1024)
})

test('the demo serves every protocol on one port, and says so', async () => {
  const { origin, banner } = await demo()
  expect(banner).toContain(`agentwire serves ${origin}`)
  expect(banner).toContain('agents   assistant, echo')
  expect(banner).toContain('model    scripted, offline')
  expect(banner).toContain(`chat     ${origin}`)
  const { doors } = (await (await fetch(origin)).json()) as { doors: { name: string; path: string }[] }
  expect(doors.map(({ path }) => path)).toEqual([
    '/threads',
    '/runs',
    '/a2a',
    '/api/chat',
    '/ag-ui',
    '/mcp',
    '/v1',
  ])
  const answer = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello there' }] }),
  })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Hello there' } }] })
})

test('with a key, the model is that of the provider, without its package', async () => {
  const provider = await openServer(createProvider())
  onTestFinished(() => provider.close())
  const { origin: base } = provider
  const environments = [
    { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${base}/v1` },
    { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: base },
  ]
  for (const env of environments) {
    const { origin } = await demo(env)
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello there' }] }),
    })
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]!.message.content).toContain('You said “Hello there”.')
  }
})

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the chat of the demo', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  async function open(url: string, options = {}): Promise<Page> {
    const page = await browser.newPage(options)
    const problems = problemsOf(page)
    page.setDefaultTimeout(60_000)
    onTestFinished(async () => {
      await page.close()
      // The SDK reads the state of a thread before its first message is there.
      expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
    })
    await page.goto(url)
    return page
  }
  const say = async (page: Page, text: string) => {
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await page.getByLabel('Message', { exact: true }).fill(text)
    await page.keyboard.press('Enter')
  }

  test('an answer streams, and goes on after a reload in its middle', async () => {
    const { origin } = await demo()
    const page = await open(origin)
    await page.getByRole('button', { name: 'Tell me a long story.' }).click()
    await page.getByText('A keeper lived in a lighthouse').waitFor()
    expect(page.url()).toContain('?thread=')
    expect(await page.getByText('because it was evening.').count()).toBe(0)
    await page.reload()
    await page.getByText('A keeper lived in a lighthouse').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.getByText('because it was evening.').waitFor()
    expect(await page.locator('article.ai').count()).toBe(1)
    await page.getByRole('heading', { name: 'The lighthouse' }).waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'Tell me a long story.' }).waitFor()
  })

  test('tool calls have their results, and calls that need approval wait for a decision each', async () => {
    const { origin } = await demo()
    const page = await open(origin)
    await say(page, 'Send Ada and Bob a mail about lunch.')
    const requests = page.getByRole('group', { name: 'send_mail?' })
    await expect.poll(() => requests.count()).toBe(2)
    await page.reload()
    await expect.poll(() => requests.count()).toBe(2)
    await requests.first().getByRole('button', { name: 'Approve' }).click()
    await requests.last().getByRole('button', { name: 'Reject' }).click()
    await page.getByText('The mail to ada@example.com is sent.').last().waitFor()
    expect(await page.getByText('The mail to bob@example.com is sent.').count()).toBe(0)
    await say(page, 'What is the weather in Oslo?')
    await page.getByText('°C in Oslo').last().waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'New chat' }).first().click()
    expect(await page.locator('article').count()).toBe(0)
    await page.goBack()
    await page.getByText('°C in Oslo').last().waitFor()
  })

  test('Markdown is shown as elements, and the next message answers a question in words', async () => {
    const { origin } = await demo()
    const page = await open(origin)
    await say(page, 'Show me Markdown.')
    await page.getByRole('table').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    expect(await page.locator('article.ai a').getAttribute('href')).toBe('https://example.com')
    expect(await violations(page)).toEqual([])
    await page.getByRole('navigation').getByRole('button', { name: 'New chat' }).first().click()
    await page.getByLabel('Agent').selectOption('echo')
    await page.getByRole('button', { name: 'Ask me something.' }).click()
    await page.getByText('What shall I say?').waitFor()
    await say(page, 'Good morning')
    await expect.poll(() => page.locator('article.ai').last().textContent()).toBe('Good morning')
  })

  test('a stopped answer ends, and a phone has the same page', async () => {
    const { origin } = await demo()
    const page = await open(origin, { viewport: { width: 360, height: 740 } })
    await page.getByRole('button', { name: 'Tell me a long story.' }).click()
    await page.getByText('A keeper lived').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    expect(await page.getByText('because it was evening.').count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  })
})
