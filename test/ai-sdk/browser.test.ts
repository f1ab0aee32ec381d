import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { openSite } from '../../examples/use-chat/site.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { type Agent, createAgentServer, defineAgent } from '../../src/index.ts'
import { chat as chatGraph, supervised } from '../fixtures/graphs.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { problemsOf } from '../kit/site.ts'
import { halting } from './agents.ts'

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the page of the example', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof openSite>>
  beforeAll(async () => {
    site = await openSite()
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  async function open(agent: Agent) {
    const server = createAgentServer({
      agents: { agent },
      faces: [aiSdk(), site],
      authenticate: () => ({ id: 'ann' }),
    })
    const { origin, close } = await serve(server, { port: 0, silent: true })
    const context = await browser.newContext()
    onTestFinished(async () => {
      await context.close()
      await close()
    })
    const openTab = async () => {
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      const problems = problemsOf(page)
      await page.goto(`${origin}/#one`)
      await page.getByRole('button', { name: 'Send' }).waitFor()
      return { page, problems }
    }
    return { origin, openTab, engine: server.engine }
  }

  const send = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()
  const shown = (page: Page) => page.locator('article').locator('p').allTextContents()
  const expectShown = (page: Page, texts: readonly string[]) =>
    expect.poll(() => shown(page), { timeout: 240_000 }).toEqual(texts)
  const atRest = (page: Page) => page.locator('main[data-status=ready]').waitFor()

  test('takes up the answer after a reload in the middle, in a second tab as well', async () => {
    const halted = halting()
    const { openTab } = await open(halted.agent)
    const { page, problems } = await openTab()
    await send(page, 'Go')
    await expectShown(page, ['Go', 'Half '])
    await page.reload()
    await expectShown(page, ['Go', 'Half '])
    const second = await openTab()
    await expectShown(second.page, ['Go', 'Half '])
    halted.goOn()
    await expectShown(page, ['Go', 'Half whole.'])
    await expectShown(second.page, ['Go', 'Half whole.'])
    await atRest(page)
    await page.reload()
    await expectShown(page, ['Go', 'Half whole.'])
    expect([...problems, ...second.problems].filter((problem) => !problem.includes('404'))).toEqual([])
  })

  test('stops an answer that it has resumed', async () => {
    const halted = halting()
    const { openTab, engine } = await open(halted.agent)
    const { page } = await openTab()
    await send(page, 'Go')
    await expectShown(page, ['Go', 'Half '])
    await page.reload()
    await expectShown(page, ['Go', 'Half '])
    await click(page, 'Stop')
    await atRest(page)
    expect(await shown(page)).toEqual(['Go', 'Half '])
    const thread = await engine.findThread({ threadId: 'one', principal: { id: 'ann' } })
    expect(thread!.activeRunId).toBeNull()
  })

  test('approves a call after a reload, and refuses the next one', async () => {
    const { openTab } = await open(langgraph(supervised()))
    const { page } = await openTab()
    await send(page, '2 + 3?')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.reload()
    await click(page, 'Approve')
    await expectShown(page, ['2 + 3?', 'Done.'])
    await expect.poll(() => page.locator('section output').allTextContents()).toEqual(['5'])
    await atRest(page)
    await click(page, 'Again')
    await click(page, 'Refuse')
    await expectShown(page, ['2 + 3?', 'Done.'])
    await page.locator('section[data-state=output-denied]').waitFor()
  })

  test('edits a message, and has it answered again', async () => {
    let runs = 0
    const answers = chatGraph((messages) => ({ text: `${messages.at(-1)!.text}, ${++runs}` }))
    const { openTab } = await open(langgraph(answers))
    const { page } = await openTab()
    await send(page, 'one')
    await expectShown(page, ['one', 'one, 1'])
    await send(page, 'two')
    await expectShown(page, ['one', 'one, 1', 'two', 'two, 2'])
    await atRest(page)
    await click(page, 'Again')
    await expectShown(page, ['one', 'one, 1', 'two', 'two, 3'])
    await atRest(page)
    await click(page, 'Edit')
    await send(page, 'three')
    await expectShown(page, ['three', 'three, 4'])
    await page.reload()
    await expectShown(page, ['three', 'three, 4'])
  })

  test('is shown why it was refused', async () => {
    const { openTab } = await open(
      defineAgent({
        run: ({ reject }) => reject('This agent is on holiday.'),
      }),
    )
    const { page } = await openTab()
    await send(page, 'Go')
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('This agent is on holiday.')
  })
})
