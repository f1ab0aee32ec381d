import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../../../adapters/node.ts'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import { operation } from '../../../src/control-plane/api/operation.ts'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { executablePath, launchBrowser } from '../../kit/browser.ts'

const rename = operation(
  {
    method: 'PATCH',
    path: '/things/{thing_id}',
    tag: 'Things',
    summary: 'Rename Thing',
    query: { properties: { tags: { type: 'array', items: { type: 'string' } }, note: { type: 'string' } } },
    headers: { 'X-Note': 'A note.' },
    body: { title: 'Rename', type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    responses: { 200: {} },
  },
  async (_, { params, query, body, call }) => ({
    body: { params, query, body, caller: call.principal, note: call.request.headers.get('x-note') },
  }),
)
const list = operation(
  { method: 'GET', path: '/others', tag: 'Others', summary: 'List', isPublic: true, responses: { 200: {} } },
  async () => ({ body: ['<img src=x onerror=alert(1)>'] }),
)

describe.runIf(executablePath !== undefined || process.env.CI === '1')(
  'the page of the API in a browser',
  () => {
    let served: Served
    let browser: Browser
    let page: Page
    const problems: string[] = []

    beforeAll(async () => {
      const api = createApi({
        operations: [rename, list],
        context: { store: memoryStore() } as ControlPlaneContext,
        authenticate: (request) => (request.headers.get('x-api-key') === 'secret' ? { id: 'me' } : null),
      })
      served = await serve(api, { port: 0 })
      browser = await launchBrowser()
      page = await browser.newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      await page.goto(`http://127.0.0.1:${served.port}/docs`)
    })
    afterAll(async () => {
      await browser?.close()
      await served?.close()
    })

    test('sends what the form says, with the key, and shows the answer as text', async () => {
      await page.fill('#key', 'secret')
      const operations = page.locator('.operation')
      await operations.first().locator('summary').click()
      const form = operations.first().locator('form')
      await form.getByLabel('thing_id').fill('a/b')
      await form.getByLabel('tags').fill('x, y')
      await form.getByLabel('X-Note').fill('from a header')
      await form.getByLabel('Body').fill('{"name":"n"}')
      await form.getByRole('button', { name: 'Send' }).click()
      const answer = form.getByRole('status')
      await expect.poll(() => answer.textContent()).toMatch(/^200/)
      expect(JSON.parse((await answer.textContent())!.replace(/^.*\n/, ''))).toEqual({
        params: { thing_id: 'a/b' },
        query: { tags: ['x', 'y'] },
        body: { name: 'n' },
        caller: { id: 'me' },
        note: 'from a header',
      })

      await operations.nth(1).locator('summary').click()
      await operations.nth(1).getByRole('button').click()
      const other = operations.nth(1).getByRole('status')
      await expect.poll(() => other.textContent()).toContain('<img src=x')
      expect(await page.locator('img').count()).toBe(0)
      expect(problems).toEqual([])
    })

    test('filters operations by their words', async () => {
      await page.fill('#filter', 'patch THING')
      expect(await page.locator('.operation:visible').count()).toBe(1)
      expect(await page.locator('#count').textContent()).toBe('1 of 2 operations')
      expect(await page.locator('h2:visible').allTextContents()).toEqual(['Things', 'Schemas'])
      await page.fill('#filter', '')
      expect(await page.locator('.operation:visible').count()).toBe(2)
    })

    test('opens the schema that a link leads to', async () => {
      await page.locator('form a[href="#schema-Rename"]').click()
      expect(await page.locator('#schema-Rename').getAttribute('open')).toBe('')
    })

    test('keeps the key nowhere but in the page', async () => {
      expect(
        await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie])),
      ).not.toContain('secret')
      await page.reload()
      expect(await page.inputValue('#key')).toBe('')
    })
  },
)
