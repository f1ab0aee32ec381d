/** The flows of the cookbook's app: `node --import tsx cookbook.ts <origin of the app> <port that it looks for its server at>`. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { deep } from './agents.ts'
import { runFlows } from './flows.ts'

const [origin, port] = process.argv.slice(2)
const { agent, goOn } = deep()

const say = async (page: Page, text: string) => {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
const titles = (page: Page) => page.locator('.thread-title')
/** Waits until the list has these titles. */
const lists = (page: Page, ...expected: readonly string[]) =>
  page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll('.thread-title')].map((title) => title.textContent).join('\n') === wanted,
    expected.join('\n'),
  )

await runFlows(
  { agent },
  () => ({
    // The SDK takes `graph_id` out of the metadata of a new thread, by which the app looks for its threads: they are listed after their first run.
    'the first visit makes a thread, and the first message names it': async (page) => {
      await page.goto(origin!)
      await shows(page, 'No conversations yet.')
      await say(page, 'Find x')
      await shows(page, 'x is five.')
      await lists(page, 'Find x')
    },
    'tool calls and a subagent are shown, and the subagent opens': async (page) => {
      await page.goto(origin!)
      await shows(page, 'x is five.')
      const call = page.locator('.toolcall', { hasText: 'write_file' })
      await call.getByText('Done').waitFor()
      await call.getByRole('button').click()
      await call.getByText('"file_path": "/x.md"').waitFor()
      const card = page.locator('.subagent-chip', { hasText: 'researcher' })
      await card.getByText('Complete').waitFor()
      await card.click()
      await shows(page, 'Found: 5')
      const inner = page.locator('.toolcall', { hasText: 'add' })
      await inner.getByRole('button').click()
      await inner.getByText('"a": 2').waitFor()
      await page.getByRole('button', { name: 'Main chat' }).click()
      await shows(page, 'x is five.')
    },
    'a page that is reloaded in mid-answer goes on with it': async (page) => {
      await page.goto(origin!)
      await page.getByRole('button', { name: '+ New' }).click()
      await page.locator('.message').first().waitFor({ state: 'detached' })
      await say(page, 'Slowly')
      await shows(page, 'First the plan.')
      await page.reload()
      await shows(page, 'First the plan.')
      await page.getByLabel('Loading response').waitFor()
      goOn()
      await shows(page, 'x is five.')
      assert.equal(await page.getByText('First the plan.').count(), 1)
      await lists(page, 'Slowly', 'Find x')
    },
    'the list switches between threads and deletes them': async (page) => {
      await page.goto(origin!)
      await lists(page, 'Slowly', 'Find x')
      await titles(page).nth(1).click()
      await page.locator('.message.user', { hasText: 'Find x' }).waitFor()
      await page.getByLabel('Delete conversation').nth(1).click()
      await lists(page, 'Slowly')
      await page.locator('.message.user', { hasText: 'Slowly' }).waitFor()
    },
  }),
  { port: Number(port) },
)
