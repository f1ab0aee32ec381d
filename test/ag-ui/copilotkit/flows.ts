/** A page of CopilotKit in Chromium against our routes alone: `node --import tsx flows.ts <script of the page>`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { serve } from '../../../adapters/node.ts'
import { agUi } from '../../../src/faces/ag-ui/index.ts'
import { createAgentServer } from '../../../src/index.ts'
import { launchBrowser } from '../../kit/browser.ts'
import { openScriptPage, problemsOf } from '../../kit/site.ts'
import { approved, painter, sharing, slow } from '../agents.ts'

const first = slow()
const stopped = slow()
const server = createAgentServer({
  agents: {
    slow: first.agent,
    stopped: stopped.agent,
    approved: approved(),
    painter: painter(),
    sharing: sharing(),
  },
  authenticate: () => ({ id: 'ann' }),
  faces: [agUi()],
})
const served = await serve(server, { port: 0, silent: true, closeTimeout: 100 })
const site = await openScriptPage(readFileSync(process.argv[2]!))
const browser = await launchBrowser()

async function open(agent: string): Promise<Page> {
  const page = await browser.newPage()
  const query = new URLSearchParams({ runtime: `${served.origin}/ag-ui`, agent, thread: crypto.randomUUID() })
  // What is said before the page has its thread, CopilotKit drops.
  const connected = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/connect'))
  await page.goto(`${site.origin}/?${query}`)
  await connected
  await idle(page)
  return page
}

const say = async (page: Page, text: string): Promise<void> => {
  await page.getByTestId('copilot-chat-textarea').fill(text)
  await page.getByTestId('copilot-chat-textarea').press('Enter')
}

/** Waits until the newest message of the agent is this. */
const answered = async (page: Page, text: string): Promise<void> => {
  await page.waitForFunction(
    (expected) =>
      [...document.querySelectorAll('[data-testid=copilot-assistant-message]')]
        .at(-1)
        ?.textContent?.trim() === expected,
    text,
  )
}

const idle = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.querySelector('#running')?.textContent === 'false')

const counts = async (page: Page): Promise<readonly number[]> =>
  Promise.all(['copilot-user-message', 'copilot-assistant-message'].map((id) => page.getByTestId(id).count()))

/** Runs one flow, and fails on what the page has reported in the meantime. */
async function flow(name: string, agent: string, run: (page: Page) => Promise<void>): Promise<void> {
  const page = await open(agent)
  page.setDefaultTimeout(10_000)
  const problems = problemsOf(page)
  try {
    await run(page)
    assert.deepEqual(problems, [])
    console.log(`ok ${name}`)
  } catch (error) {
    console.error(`not ok ${name}\n${await page.locator('body').innerText()}\n${problems.join('\n')}`)
    throw error
  } finally {
    await page.close()
  }
}

try {
  await flow('a page that is reloaded in mid-answer goes on with it', 'slow', async (page) => {
    await say(page, 'Hello')
    await answered(page, 'half')
    await page.reload()
    await answered(page, 'half')
    first.open()
    await answered(page, 'half whole')
    await idle(page)
    assert.deepEqual(await counts(page), [1, 1])
    await page.reload()
    await answered(page, 'half whole')
    assert.deepEqual(await counts(page), [1, 1])
  })

  await flow('stop stops the answer', 'stopped', async (page) => {
    await say(page, 'Hello')
    await answered(page, 'half')
    await page.getByTestId('copilot-send-button').click()
    await idle(page)
    for await (const thread of server.engine.listThreads({ principal: { id: 'ann' } }))
      if (thread.assistantId === 'stopped') assert.equal(thread.activeRunId, null)
  })

  await flow('an approval survives a reload', 'approved', async (page) => {
    await say(page, 'Add 2 and 3')
    await page.locator('#approve').waitFor()
    await page.reload()
    await page.locator('#approve').click()
    await answered(page, 'Done.')
    await idle(page)
    assert.equal(await page.locator('#question').count(), 0)
  })

  await flow('a tool of the page is called, and the agent gets its result', 'painter', async (page) => {
    await say(page, 'Paint it')
    await answered(page, 'The page has painted red.')
    assert.equal(await page.evaluate(() => document.body.style.background), 'red')
    await idle(page)
    await say(page, 'Once more')
    await page.waitForFunction(
      () => document.querySelectorAll('[data-testid=copilot-user-message]').length === 2,
    )
    await idle(page)
    await answered(page, 'The page has painted red.')
  })

  await flow('the page and the agent share a state', 'sharing', async (page) => {
    await say(page, 'Hello')
    await answered(page, 'About nothing.')
    await idle(page)
    await page.locator('#write').click()
    await say(page, 'And now?')
    await answered(page, 'About trains.')
    await page.waitForFunction(() =>
      document.querySelector('#state')?.textContent?.includes('"seen":["nothing","trains"]'),
    )
    await page.reload()
    await page.waitForFunction(() =>
      document.querySelector('#state')?.textContent?.includes('"topic":"trains"'),
    )
  })
} finally {
  await browser.close()
  await site.close()
  await served.close()
}
