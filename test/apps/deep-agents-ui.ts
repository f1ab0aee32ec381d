/** The flows of deep-agents-ui: `node --import tsx deep-agents-ui.ts <origin of the app>`. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { hesitant } from '../threads/sdk/graphs.ts'
import { counting, deep, supervised } from './agents.ts'
import { runFlows } from './flows.ts'

const [origin] = process.argv.slice(2)
const steps = hesitant()
const left = hesitant()
const stopped = hesitant()
const { agent } = deep()

const agents = {
  steps: langgraph(steps.graph),
  left: langgraph(left.graph),
  stopped: langgraph(stopped.graph),
  deep: agent,
  counting: counting(),
  supervised: supervised(),
}

const say = async (page: Page, text: string) => {
  await page.getByPlaceholder('Write your message...').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
const idle = (page: Page) => page.getByPlaceholder('Write your message...').waitFor()
/** Waits for a question. The box of its call opens by itself only if the question came with the call. */
const asked = async (page: Page) => {
  await page.getByRole('button', { name: 'mail' }).last().waitFor()
  await idle(page)
  if (!(await page.getByRole('button', { name: 'Reject' }).isVisible()))
    await page.getByRole('button', { name: 'mail' }).last().click()
}

await runFlows(agents, ({ api, server }) => {
  /** Opens the app, and gives it its server in its own dialog. */
  const open = async (page: Page, assistantId: keyof typeof agents) => {
    await page.goto(origin!)
    await page.getByLabel('Deployment URL').fill(api)
    await page.getByLabel('Assistant ID').fill(assistantId)
    await page.getByRole('button', { name: 'Save' }).click()
    await idle(page)
  }
  const stateOf = async (assistantId: string) => {
    for await (const thread of server.engine.listThreads({ principal: { id: 'ann' } }))
      if (thread.assistantId === assistantId) return thread
    throw new Error(`There is no thread of ${assistantId}.`)
  }

  return {
    'an answer streams in steps, and a reload shows it again': async (page) => {
      await open(page, 'steps')
      await say(page, 'Hello')
      await shows(page, 'one two')
      steps.release()
      await shows(page, 'one two three four')
      await idle(page)
      await page.reload()
      await shows(page, 'one two three four')
    },
    'a page that is reloaded in mid-answer goes on with it': async (page) => {
      await open(page, 'left')
      await say(page, 'Hello')
      await shows(page, 'one two')
      await page.reload()
      await shows(page, 'one two')
      left.release()
      await shows(page, 'one two three four')
      await idle(page)
      assert.equal((await stateOf('left')).status, 'idle')
    },
    'Stop stops the run on the server': async (page) => {
      await open(page, 'stopped')
      await say(page, 'Hello')
      await shows(page, 'one two')
      await page.getByRole('button', { name: 'Stop' }).click()
      await idle(page)
      while ((await stateOf('stopped')).status === 'busy') await page.waitForTimeout(10)
    },
    'a deep agent shows its plan, its subagent, its tool calls and its file': async (page) => {
      await open(page, 'deep')
      await say(page, 'Find x')
      await shows(page, 'x is five.')
      await idle(page)
      await shows(page, 'researcher')
      await shows(page, 'Find x')
      await shows(page, 'Found: 5')
      await page.getByRole('button', { name: 'write_file' }).click()
      await page.getByRole('button', { name: 'file_path' }).click()
      await shows(page, '/x.md')
      await page.getByRole('button', { name: 'All tasks completed' }).click()
      await shows(page, 'Look it up')
      await page.getByRole('button', { name: 'Files (State)' }).click()
      await page.getByRole('button', { name: '/x.md' }).last().click()
      await page.getByRole('dialog').getByText('x is 5').waitFor()
    },
    'an approval survives a reload, and is given': async (page) => {
      await open(page, 'supervised')
      await say(page, 'Write to Bob')
      await asked(page)
      await page.reload()
      await page.getByRole('button', { name: 'Approve' }).click()
      await shows(page, 'Told: Sent to bob.')
      await idle(page)
    },
    'a call is rejected with a reason, and another is edited': async (page) => {
      await open(page, 'supervised')
      await say(page, 'Write to Bob')
      await asked(page)
      await page.getByRole('button', { name: 'Reject' }).click()
      await page.getByPlaceholder('Explain why').fill('Not today')
      await page.getByRole('button', { name: 'Confirm Reject' }).click()
      await shows(page, 'Told: Not today.')
      await idle(page)
      await say(page, 'Again')
      await asked(page)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.locator('label:text-is("to") + textarea').fill('carol')
      await page.getByRole('button', { name: 'Save & Approve' }).click()
      await shows(page, 'Told: Sent to carol.')
    },
    'the list groups threads, and switches between them': async (page) => {
      await open(page, 'counting')
      await say(page, 'Apples')
      await shows(page, 'Answer 1.')
      await idle(page)
      await page.getByRole('button', { name: 'New Thread' }).click()
      await page.getByText('Answer 1.').waitFor({ state: 'detached' })
      await say(page, 'Pears')
      await shows(page, 'Answer 2.')
      await idle(page)
      await page.getByRole('button', { name: 'Threads' }).click()
      const listed = page.locator('button[aria-current] h3')
      await listed.nth(1).waitFor()
      assert.deepEqual((await listed.allInnerTexts()).slice(0, 2), ['Pears', 'Apples'])
      await page.getByRole('button', { name: 'Apples' }).click()
      await page.locator('p', { hasText: 'Answer 1.' }).last().waitFor()
      await page.waitForFunction(
        () => document.querySelector('button[aria-current=true] h3')?.textContent === 'Apples',
      )
    },
  }
})
