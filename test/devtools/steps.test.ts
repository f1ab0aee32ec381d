import { createServer, type Server } from 'node:http'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toNode } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../src/index.ts'
import { violations } from '../kit/axe.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { errorMessage } from '../kit/errors.ts'
import { listen } from '../kit/listen.ts'
import { eventually } from '../kit/wait.ts'
import { trips } from './trips.ts'

const ANN = { id: 'ann' }
const PRICES = {
  'atlas-small': { input: 1, output: 4, cacheRead: 0.1, cacheWrite: 1.25 },
  'atlas-large': { input: 3, output: 15 },
}
const LONG = 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch'.repeat(200)

/** Sends as many events as its input says, and each of the last ones is one of its tools. */
const talkative = defineAgent({
  async run({ input, custom, tool }) {
    const { events = 0, tools = 0 } = input as { readonly events?: number; readonly tools?: number }
    for (let count = 0; count < events; count++) await custom('tick', { count })
    for (let count = 0; count < tools; count++) await tool(`look ${count}`, {}, async () => count)
  },
})

describe.runIf(executablePath !== undefined || process.env.CI === '1')('steps in a browser', () => {
  let browser: Browser
  let server: AgentServer
  let http: Server
  let origin: string
  let problems: string[]

  const run = async (threadId: string, input: unknown, assistantId = 'trips') => {
    const { runId } = await server.engine.start({ threadId, assistantId, input, principal: ANN })
    await server.engine.wait({ threadId, runId, principal: ANN })
    return runId
  }
  const go = (place: string) => ({ messages: [{ type: 'human', content: place }] })

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`${origin}/devtools#/${path}`)
    return page
  }
  const rowOf = (page: Page, name: string) => page.getByRole('treeitem', { name })
  const stepOf = (page: Page) => page.getByLabel('Step', { exact: true })
  const eventOf = (page: Page) => page.getByLabel('Event', { exact: true })

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  beforeEach(async () => {
    problems = []
    server = createAgentServer({
      agents: { trips: langgraph(trips()), talkative },
      authenticate: () => ANN,
      devtools: { prices: PRICES },
      errorMessage,
      onError: () => {},
    })
    http = createServer(toNode(server, { onError() {} }))
    origin = `http://127.0.0.1:${await listen(http)}`
  })
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await server.close()
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
  })

  test('a step has its input, its update, its tokens and its cost, and the run its totals', async () => {
    await run('t', go('Vienna'))
    const page = await open('threads/t/steps')
    await rowOf(page, 'unpriced-1').waitFor()
    const bar = await page.locator('.timeline > .bar').innerText()
    expect(bar).toMatch(/7 steps · 4 model calls · 1 tool call/)
    // Two calls at $0.001525, one at $0.0081, and one of a model without a price.
    expect(bar).toMatch(/4,800 → 1,200 tokens · ≥ \$0\.0112/)
    expect(await rowOf(page, 'agent research').innerText()).toMatch(/2,400 → 600\s+\$0\.00305/)
    expect(await rowOf(page, 'unpriced-1').innerText()).not.toContain('$')

    await rowOf(page, 'atlas-small').first().click()
    const model = await stepOf(page).innerText()
    expect(model).toMatch(/1,200 · 1,000 read from the cache · 100 written to the cache/)
    expect(model).toMatch(/Message[\s\S]*look_up/)
    await rowOf(page, 'tool look_up').click()
    expect(await stepOf(page).innerText()).toMatch(
      /Arguments[\s\S]*place: "Vienna"[\s\S]*Result[\s\S]*"Vienna has 12 museums\."/,
    )
    await rowOf(page, 'plan').click()
    await eventually(async () => /Input[\s\S]*Vienna[\s\S]*Update/.test(await stepOf(page).innerText()))
  })

  test('a step that failed tells why, and one that asks tells its question', async () => {
    await run('bad', go('Atlantis'))
    await run('asks', go('Mars'))
    const page = await open('threads/bad/steps')
    await rowOf(page, 'check').click()
    await stepOf(page).getByText('There is no way to Atlantis.').waitFor()
    await page.goto(page.url().replace(/#.*/, '#/threads/asks/steps'))
    await rowOf(page, 'check').click()
    await stepOf(page).getByText('"Really?"').waitFor()
  })

  test('a large input is folded until it is opened', async () => {
    await run('t', go(LONG))
    const page = await open('threads/t/steps')
    await rowOf(page, 'plan').click()
    const input = stepOf(page).locator('details').first()
    expect(await input.getAttribute('open')).toBe(null)
    expect(await stepOf(page).innerText()).not.toContain('Llanfair')
    await input.locator('summary').click()
    await stepOf(page).getByText('Llanfair').first().waitFor()
  })

  test('a log line leads to its step, a step to its log lines, and both survive a reload', async () => {
    await run('t', go('Vienna'))
    const runId = await run('t', go('Graz'))
    const page = await open('threads/t/log')
    await page.getByRole('button', { name: /^tools/ }).click()
    const line = page.getByRole('row', { name: 'tool-started look_up' })
    await line.last().click()
    await eventOf(page).waitFor()
    expect(page.url()).toMatch(/#\/threads\/t\/log\/\d+$/)
    await page.reload()
    expect(await eventOf(page).innerText()).toContain('Graz')
    await eventOf(page).getByRole('link', { name: 'look_up' }).click()
    await eventually(async () => page.url().endsWith(`/steps/call_1/${runId}`))
    await page.reload()
    expect(await stepOf(page).innerText()).toMatch(/Arguments[\s\S]*"Graz"/)

    await rowOf(page, 'agent research').click()
    await stepOf(page).getByRole('link', { name: 'Log lines' }).click()
    const namespaces = page.locator('.rows [role=rowgroup] .namespace')
    const filter = page.getByRole('button', { name: 'Of research' })
    await filter.waitFor()
    await page.reload()
    await namespaces.nth(5).waitFor()
    await page.locator('.rows').evaluate((box) => {
      box.scrollTop = 0
    })
    await page.getByRole('row', { name: 'research begins' }).waitFor()
    const lines = await page.locator('.rows [role=rowgroup] .row').allInnerTexts()
    expect(lines[0]).toContain('research begins')
    expect(lines.every((text) => /research/.test(text))).toBe(true)
    // Only the second run's.
    const first = Number(lines[0]!.trim().split(/\s/)[0])
    expect(first).toBeGreaterThan(60)
    await page.keyboard.press('j')
    await eventOf(page).waitFor()
    await filter.click()
    await eventually(async () => (await filter.count()) === 0)
    expect(page.url()).toMatch(/\/log\/\d+$/)
  })

  test('two runs stand side by side: inputs, answers, steps and final states', async () => {
    const vienna = await run('t', go('Vienna'))
    const atlantis = await run('other', go('Atlantis'))
    await run('t', go('Graz'))
    const page = await open('threads/t/steps')
    await rowOf(page, 'unpriced-1').waitFor()
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('region', { name: 'Answer of A' }).getByText('Go to Vienna.').waitFor()
    await page.getByRole('region', { name: 'Answer of B' }).getByText('Go to Graz.').waitFor()
    expect(await page.getByRole('region', { name: 'Input of A' }).innerText()).toContain('"Vienna"')
    const inputB = await page.getByRole('region', { name: 'Input of B' }).innerText()
    expect(inputB).toContain('"Graz"')
    expect(inputB).not.toContain('"Vienna"')
    const changes = page.getByLabel('How the state of B differs from that of A')
    expect(await changes.innerText()).toMatch(/^\+ messages\[6\]/)
    const steps = page.getByRole('region', { name: 'Steps' }).getByRole('row')
    expect(await steps.count()).toBe(13)

    await page.getByLabel('Thread B').selectOption('other')
    const answerB = page.getByRole('region', { name: 'Answer of B' })
    await answerB.getByText('There is no way to Atlantis.').waitFor()
    await eventually(async () => page.url().includes('/other/'))
    const check = steps.filter({ hasText: 'check' })
    expect(await check.innerText()).toMatch(/check\s+\d+ m?s\s+failed \d/)
    const write = steps.filter({ hasText: 'write' })
    expect(await write.innerText()).toContain('–')
    // Other ids are no difference.
    expect(await changes.innerText()).toMatch(/~ messages\[0\]\.content/)
    expect(await changes.locator('li').count()).toBe(4)
    await page.goto(page.url().replace(/#.*/, `#/compare/t/${vienna}/other/${atlantis}`))
    await page.reload()
    await answerB.getByText('There is no way to Atlantis.').waitFor()
    await check.getByRole('link').last().click()
    await eventually(async () => /threads\/other\/steps\/[^/]+\//.test(page.url()))
    await stepOf(page).getByText('There is no way to Atlantis.').waitFor()
  })

  test('of thousands of events and hundreds of steps only those in sight are drawn', async () => {
    await run('t', { events: 2_000, tools: 150 }, 'talkative')
    const page = await open('threads/t/steps')
    await rowOf(page, 'look 0').waitFor()
    expect(await page.locator('.span').count()).toBeLessThan(60)
    await page.locator('.spans').evaluate((box) => {
      box.scrollTop = box.scrollHeight
    })
    await rowOf(page, 'look 149').click()
    await stepOf(page).getByRole('link', { name: 'Log lines' }).click()
    await page.getByRole('row', { name: 'tool-started look 149' }).waitFor()
    await page.getByRole('button', { name: 'Of look 149' }).click()
    await eventually(async () => (await page.locator('.row').count()) > 20)
    expect(await page.locator('.row').count()).toBeLessThan(60)
    await page.goto(page.url().replace(/#.*/, '#/threads/t/log/1000'))
    await page.getByRole('row', { name: 'custom:tick' }).first().waitFor()
    expect(await page.locator('.row.selected .number').first().innerText()).toBe('1000')
    expect(await page.locator('.row.selected').isVisible()).toBe(true)
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('axe finds nothing serious in %s at a width of %i', async (colorScheme, width) => {
    const a = await run('t', go('Vienna'))
    const b = await run('t', go(LONG))
    await run('bad', go('Atlantis'))
    const page = await open('', { colorScheme, viewport: { width, height: 800 } })
    const views: readonly (readonly [path: string, shown: string, click?: string])[] = [
      [`threads/t/steps/-/${a}`, '.span.model'],
      [`threads/t/steps/call_1/${a}`, '.detail .logged .json'],
      [`threads/t/steps/${b}/${b}`, '.detail .logged', '.logged summary'],
      ['threads/bad/steps', '.span .bar-of.failed'],
      [`threads/t/log/of/call_1/${a}`, '.row .channel'],
      ['threads/t/log/30', '.detail dd a'],
      [`compare/t/${a}/t/${b}`, '.compared td a'],
    ]
    for (const [path, shown, click] of views) {
      await page.goto(page.url().replace(/#.*/, `#/${path}`))
      await page.locator(shown).first().waitFor()
      if (click) await page.locator(click).first().click()
      expect([path, await violations(page)]).toEqual([path, []])
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      expect([path, scrollWidth]).toEqual([path, clientWidth])
    }
  })
})
