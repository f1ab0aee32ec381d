import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { chat, write } from '../cli/projects.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { problemsOf } from '../kit/site.ts'
import { KEY, serveControlPlane, writeProject } from './support/deploying.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let plane: Awaited<ReturnType<typeof serveControlPlane>>
let config = ''

beforeAll(async () => {
  plane = await serveControlPlane()
  mkdirSync(join(plane.place, 'project'))
  config = join(plane.place, 'project', 'langgraph.json')
})
afterAll(() => plane?.close())

async function deploy(word: string) {
  writeProject(join(plane.place, 'project'), `'${word}'`)
  const printed: string[] = []
  const out = (text: string) => printed.push(text)
  const env = { AGENTWIRE_CONTROL_PLANE_URL: plane.base, AGENTWIRE_API_KEY: KEY }
  const args = ['deploy', '--name', 'shown', '--config', config, '--json']
  expect([await run(args, { env, out, problem: out }), printed]).toEqual([0, expect.anything()])
  return JSON.parse(printed.at(-1)!) as { id: string; url: string }
}

const read = async (path: string) =>
  (await fetch(`${plane.base}${path}`, { headers: { 'x-api-key': KEY } })).json()

/** Where the vendor's tools say that a deployment is. */
async function pageOf(id: string): Promise<string> {
  const { tenant_id } = await read(`/v2/deployments/${id}`)
  return `${plane.base}/o/${tenant_id}/host/deployments/${id}`
}

test('the page is public, and has nothing of a deployment or of the request', async () => {
  const response = await fetch(`${plane.base}/o/x%3Cscript%3E/host/deployments/no-such-id`)
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(text).not.toMatch(/x<script>|x%3C|no-such-id/)
  const policy = response.headers.get('content-security-policy')
  const [, nonce] = /script-src 'nonce-([-\w]+)'/.exec(policy!)!
  expect(policy).toContain("default-src 'none'")
  expect(text.match(new RegExp(`nonce="${nonce}"`, 'g'))).toHaveLength(2)
})

describe.skipIf(executablePath === undefined)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const textOf = (page: Page, selector: string) => page.locator(selector).innerText()

  async function openPage(): Promise<Page> {
    const page = await browser.newPage()
    // A server is built and started meanwhile.
    page.setDefaultTimeout(120_000)
    return page
  }

  test('it shows status, revisions and logs live, until the deployment is deleted', {
    timeout: 240_000,
  }, async () => {
    const { id, url } = await deploy('first')
    const page = await openPage()
    const problems = problemsOf(page)
    await page.goto(await pageOf(id))
    await page.getByText('Sign in to see this deployment.').waitFor()
    await page.getByLabel('API key').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('rejects this API key (401)').waitFor()
    await page.route(/\/events$/, (route) => route.abort(), { times: 1 })
    await page.getByLabel('API key').fill(KEY)
    await page.keyboard.press('Enter')
    await page.getByText('The connection was lost').waitFor()
    await page.locator('#message').filter({ hasText: /^$/ }).waitFor({ state: 'attached' })
    await page.getByRole('heading', { name: 'shown' }).waitFor()
    expect(await textOf(page, '#url')).toBe(url)
    expect(await page.locator('#url').getAttribute('href')).toBe(url)
    expect(await textOf(page, '#status')).toBe('READY')
    await page.locator('#revisions tr').filter({ hasText: 'DEPLOYED · active' }).waitFor()

    await chat(url, 'agent')
    await page
      .locator('#deploy')
      .getByText(/POST \/threads/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Newest build' }).click()
    await page.locator('#build').getByText('Unpacking').waitFor()
    expect(await page.locator('#deploy').isVisible()).toBe(false)

    await deploy('second')
    await page
      .locator('#revisions tr')
      .first()
      .filter({ hasText: /^2\s*DEPLOYED · active/ })
      .waitFor()
    expect(await page.locator('#revisions tr').count()).toBe(2)

    await page.evaluate(AXE)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const violations = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id }) => id))',
      )
      expect([colorScheme, violations]).toEqual([colorScheme, []])
    }

    // The page reads the deployment when its status changes. An answer that comes after the end changes nothing.
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const isRead = (address: URL) => address.pathname.endsWith(`/v2/deployments/${id}`)
    await page.route(isRead, async (route) => {
      await released
      await route.continue()
    })
    await fetch(`${plane.base}/v2/deployments/${id}`, { method: 'DELETE', headers: { 'x-api-key': KEY } })
    await page.getByText('The deployment was deleted.').waitFor()
    const late = page.waitForResponse((response) => isRead(new URL(response.url())))
    release()
    await (await late).finished()
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    expect(await textOf(page, '#message')).toBe('The deployment was deleted.')
    expect(await textOf(page, '#status')).toBe('DELETED')
    expect(problems.filter((text) => !/401|404|ERR_FAILED/.test(text))).toEqual([])
    await page.close()
  })

  test('it shows the log of the build if no revision serves yet', { timeout: 240_000 }, async () => {
    writeProject(join(plane.place, 'project'), "'third'", 'process.exit(2)')
    write(join(plane.place, 'project'), {
      'package.json': { scripts: { preinstall: 'node build.mjs' }, dependencies: { a: 'file:./a' } },
    })
    const env = { AGENTWIRE_CONTROL_PLANE_URL: plane.base, AGENTWIRE_API_KEY: KEY }
    const printed: string[] = []
    const out = (text: string) => printed.push(text)
    const args = ['deploy', '--name', 'failing', '--config', config]
    expect(await run(args, { env, out, problem: out })).toBe(1)
    const [, shown] = /Status and logs: (\S+)/.exec(printed.join('\n'))!
    const page = await openPage()
    await page.goto(shown!)
    await page.getByLabel('API key').fill(KEY)
    await page.keyboard.press('Enter')
    await page.locator('#status').filter({ hasText: /\w/ }).waitFor()
    await page.locator('#build').getByText('Unpacking').waitFor()
    expect(await page.locator('#deploy').isVisible()).toBe(false)
    await page.close()
  })
})
