/** The flows of agent-chat-ui: `node --import tsx agent-chat-ui.ts <origin of the app>`. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { calculator } from '../fixtures/graphs.ts'
import { hesitant } from '../threads/sdk/graphs.ts'
import { counting, inbox, supervised } from './agents.ts'
import { runFlows } from './flows.ts'

const [origin] = process.argv.slice(2)
const steps = hesitant()
const left = hesitant()
const stopped = hesitant()

const agents = {
  steps: langgraph(steps.graph),
  left: langgraph(left.graph),
  stopped: langgraph(stopped.graph),
  calculator: langgraph(calculator()),
  counting: counting(),
  again: counting(),
  listed: counting(),
  inbox: inbox(),
  supervised: supervised(),
}

await runFlows(agents, ({ api, server }) => {
  const open = (page: Page, assistantId: keyof typeof agents, more: Record<string, string> = {}) =>
    page.goto(`${origin}/?${new URLSearchParams({ apiUrl: api, assistantId, ...more })}`)
  const say = async (page: Page, text: string) => {
    await page.getByPlaceholder('Type your message...').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
  /** The answer is complete, and the page has read the thread's history. */
  const idle = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor()
  /** The button of a message, which shows while the pointer is on it. */
  const press = async (page: Page, text: string, label: string) => {
    const group = page.locator('.group', { hasText: text }).last()
    await group.hover()
    await group.getByRole('button', { name: label }).click()
  }
  const statuses = async (assistantId: string) => {
    const found: string[] = []
    for await (const thread of server.engine.listThreads({ principal: { id: 'ann' } }))
      if (thread.assistantId === assistantId) found.push(thread.status)
    return found
  }

  return {
    'the form of the first visit connects': async (page) => {
      await page.goto(origin!)
      await page.getByLabel('Deployment URL').fill(api)
      await page.getByLabel('Assistant / Graph ID').fill('counting')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByPlaceholder('Type your message...').waitFor()
    },
    'an answer streams in steps, and a reload shows it again': async (page) => {
      await open(page, 'steps')
      await say(page, 'Hello')
      await shows(page, 'one two')
      steps.release()
      await shows(page, 'one two three four')
      await idle(page)
      await page.reload()
      await shows(page, 'one two three four')
      assert.equal(await page.locator('p.rounded-3xl', { hasText: 'Hello' }).count(), 1)
    },
    'a tool call is shown with its arguments and its result, and hidden': async (page) => {
      await open(page, 'calculator')
      await say(page, 'Add')
      await shows(page, 'It is five.')
      await shows(page, 'call_add')
      assert.deepEqual(await page.locator('table').first().innerText(), 'a\t2\nb\t3')
      await page.getByLabel('Hide Tool Calls').click()
      await page.getByText('call_add').waitFor({ state: 'detached' })
    },
    'Cancel stops the run on the server': async (page) => {
      await open(page, 'stopped')
      await say(page, 'Hello')
      await shows(page, 'one two')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await idle(page)
      await assert.doesNotReject(async () => {
        while ((await statuses('stopped'))[0] === 'busy') await page.waitForTimeout(10)
      })
    },
    'a page that is left in mid-answer stops its run, as it asks to, and its thread goes on': async (
      page,
    ) => {
      await open(page, 'left')
      await say(page, 'Hello')
      await shows(page, 'one two')
      await page.reload()
      await shows(page, 'Hello')
      left.release()
      await say(page, 'Once more')
      await shows(page, 'one two three four')
      await idle(page)
    },
    'a question of the Agent Inbox survives a reload, and is accepted': async (page) => {
      await open(page, 'inbox')
      await say(page, 'Write to Bob')
      await shows(page, 'send_mail')
      await page.reload()
      await shows(page, 'send_mail')
      await page.getByRole('button', { name: 'Accept' }).click()
      await shows(page, 'accept {"action":"send_mail","args":{"to":"bob"}}')
    },
    'a question is ignored, and another answered with words': async (page) => {
      await open(page, 'inbox')
      await say(page, 'Write to Bob')
      await shows(page, 'send_mail')
      await page.getByRole('button', { name: 'Ignore' }).click()
      await shows(page, 'ignore null')
      await idle(page)
      await say(page, 'Write again')
      await page.getByPlaceholder('Your response here...').fill('Not today')
      await page.getByRole('button', { name: 'Send Response' }).click()
      await shows(page, 'response "Not today"')
    },
    'a call of humanInTheLoopMiddleware is accepted, and another rejected': async (page) => {
      await open(page, 'supervised')
      await say(page, 'Write to Bob')
      await page.getByRole('button', { name: 'Accept' }).click()
      await shows(page, 'Told: Sent to bob.')
      await idle(page)
      await say(page, 'Write again')
      await page.getByPlaceholder('Your response here...').fill('Not today')
      await page.getByRole('button', { name: 'Send Response' }).click()
      await shows(page, 'Told: Not today.')
    },
    'a message is edited, and the arrows lead between both branches': async (page) => {
      await open(page, 'counting')
      await say(page, 'First')
      await shows(page, 'Answer 1.')
      await idle(page)
      await say(page, 'Second')
      await shows(page, 'Answer 2.')
      await idle(page)
      await press(page, 'Second', 'Edit')
      await page.locator('.group textarea').fill('Changed')
      await page.getByRole('button', { name: 'Submit' }).click()
      await shows(page, 'Answer 3.')
      await idle(page)
      await shows(page, 'Answer 1.')
      await shows(page, '2 / 2')
      assert.equal(await page.getByText('Answer 2.').count(), 0)
      await page.locator('.group', { hasText: 'Changed' }).getByRole('button').first().click()
      await shows(page, 'Answer 2.')
      await shows(page, '1 / 2')
    },
    'an answer is written again from the same message': async (page) => {
      await open(page, 'again')
      await say(page, 'Once')
      await shows(page, 'Answer 1.')
      await idle(page)
      await press(page, 'Answer 1.', 'Refresh')
      await shows(page, 'Answer 2.')
      await idle(page)
      await shows(page, '2 / 2')
    },
    'the thread list has the threads of the agent, newest first, and switches between them': async (page) => {
      await open(page, 'listed', { chatHistoryOpen: 'true' })
      await say(page, 'Apples')
      await shows(page, 'Answer 1.')
      await idle(page)
      await page.getByRole('button', { name: 'New thread' }).click()
      await page.getByText('Answer 1.').waitFor({ state: 'detached' })
      await say(page, 'Pears')
      await shows(page, 'Answer 2.')
      await idle(page)
      await page.reload()
      const listed = page.locator('button p.truncate:visible')
      await listed.nth(1).waitFor()
      assert.deepEqual(await listed.allInnerTexts(), ['Pears', 'Apples'])
      await page.getByRole('button', { name: 'Apples' }).click()
      await shows(page, 'Answer 1.')
      assert.equal(await page.getByText('Answer 2.').count(), 0)
    },
  }
})
