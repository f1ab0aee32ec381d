import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  answered,
  ask,
  asks,
  button,
  chatPages,
  choose,
  conversation,
  hasBrowser,
  lastTurn,
  send,
  stopBefore,
  wordsOf,
} from './pages.ts'
import { submit } from './submit.ts'

/** The card of a subagent. */
const card = (page: Page, name: string, state: string) =>
  button(page, new RegExp(`^Subagent ${name} ${state}`))

const BOTH = 'What is 12 * (3 + 4), and what is a checkpoint?'

describe.runIf(hasBrowser)('subagents', () => {
  const { open } = chatPages()

  test('are live cards beside each other, which open into their own conversations once they are done', async () => {
    const page = await open()
    const goOn = await stopBefore(page, 'tool-finished')
    await send(page, BOTH)
    await card(page, 'researcher', 'Running').waitFor()
    await card(page, 'math-whiz', 'Running').waitFor()
    await goOn()
    await answered(page)
    await opens(page)
    await page.reload()
    await answered(page)
    await opens(page)
    const other = await open(new URL(page.url()).pathname)
    await answered(other)
    await opens(other)
  })

  /** Opens both cards, one after the other. */
  async function opens(page: Page): Promise<void> {
    for (const [name, words] of [
      ['researcher', 'A checkpoint is a copy'],
      ['math-whiz', '12 * (3 + 4) = 84.'],
    ] as const) {
      await card(page, name, 'Done').click()
      const panel = page.getByRole('dialog', { name: new RegExp(name) })
      await panel.getByText(words).last().waitFor()
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
    }
  }
})

describe.runIf(hasBrowser)('approvals', () => {
  const { open } = chatPages()

  async function letterTo(...addresses: string[]): Promise<Page> {
    const page = await open()
    await choose(page, 'Secretary')
    await send(page, `Email ${addresses.join(' and ')} that lunch is at noon`)
    await button(asks(page), 'Approve').first().waitFor()
    return page
  }

  test('a letter that is approved is sent, also by a page that came later', async () => {
    const page = await letterTo('ada@example.com')
    expect(await wordsOf(asks(page))).toContain('Lunch is at noon')
    // The card is the call: there is no row of the tool beside it.
    expect(await lastTurn(page).getByText('Send email').count()).toBe(0)
    await page.reload()
    await button(asks(page), 'Approve').click()
    await conversation(page).getByText('The letter to ada@example.com lies in the outbox').last().waitFor()
    await answered(page)
    expect(await asks(page).count()).toBe(0)
  })

  test('a text that is sent instead is the decision: a consent, or a rejection with its reason', async () => {
    const page = await letterTo('ada@example.com')
    await submit(page, 'Write to Bob instead')
    await answered(page)
    expect(await wordsOf(lastTurn(page))).toContain('rejected')
    await send(page, 'Email eve@example.com that lunch is at noon')
    await button(asks(page), 'Approve').first().waitFor()
    await submit(page, 'Yes')
    await conversation(page).getByText('The letter to eve@example.com lies in the outbox').last().waitFor()
    await answered(page)
  })

  test('a letter is changed in a form before it is sent', async () => {
    const page = await letterTo('eve@example.com')
    await button(asks(page), 'Edit').click()
    const to = asks(page).getByRole('textbox', { name: 'To' })
    expect(await to.inputValue()).toBe('eve@example.com')
    await to.fill('mallory@example.com')
    await button(asks(page), 'Approve with these').click()
    await conversation(page).getByText('The letter to mallory@example.com').last().waitFor()
    await answered(page)
  })

  test('a rejected letter reads as rejected, with the reason, also after a reload', async () => {
    const page = await letterTo('bob@example.com')
    await button(asks(page), 'Reject').click()
    await asks(page).getByRole('textbox').fill('He is on holiday')
    await button(asks(page), 'Reject').click()
    for (const when of ['now', 'later']) {
      if (when === 'later') await page.reload()
      await answered(page)
      const call = lastTurn(page)
        .getByRole('group')
        .filter({ hasText: /send email/i })
      expect(await wordsOf(call)).toContain('rejected')
      expect(await wordsOf(lastTurn(page))).not.toContain('failed')
      await call.locator('summary').click()
      await call.getByText('He is on holiday').waitFor()
    }
  })

  test('two letters are decided about one by one and answered together', async () => {
    const page = await letterTo('ada@example.com', 'bob@example.com')
    const commands: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/commands')) commands.push(request.postData() ?? '')
    })
    expect(await button(asks(page), 'Approve').count()).toBe(2)
    expect(await button(asks(page), 'Send').isDisabled()).toBe(true)
    await button(asks(page), 'Approve').first().click()
    await asks(page).getByText('1 of 2 decided').waitFor()
    await button(asks(page), 'Approve').click()
    await button(asks(page), 'Send').click()
    await conversation(page).getByText('The letter to bob@example.com').last().waitFor()
    await answered(page)
    expect(await wordsOf(lastTurn(page))).toContain('The letter to ada@example.com lies in the outbox')
    expect(commands.filter((body) => body.includes('input.respond'))).toHaveLength(1)
  })

  test('the questions of two subagents are answered together, also by a page that came later', async () => {
    const page = await open()
    await send(page, 'Research coffee, and ask me what exactly; research streams, and ask me what exactly')
    await page.getByRole('textbox', { name: 'Your answer' }).nth(1).waitFor()
    await page.reload()
    const answer = page.getByRole('textbox', { name: 'Your answer' })
    await answer.nth(1).waitFor()
    expect(await card(page, 'researcher', 'Waiting').count()).toBe(2)
    for (const words of ['coffee', 'checkpoint']) {
      await answer.first().fill(words)
      await button(asks(page), 'Answer').first().click()
    }
    await button(asks(page), 'Send').click()
    await answered(page)
    await expect.poll(() => card(page, 'researcher', 'Done').count()).toBe(2)
    expect(await wordsOf(lastTurn(page))).toContain('A checkpoint is a copy')
    expect(await asks(page).count()).toBe(0)
    await page.reload()
    await answered(page)
    await expect.poll(() => card(page, 'researcher', 'Done').count()).toBe(2)
  })

  test('what is decided stays when the page reads the thread again', async () => {
    const page = await letterTo('ada@example.com', 'bob@example.com')
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/stream/events', async (route) => {
      await released
      await route.continue()
    })
    await page.reload()
    await button(asks(page), 'Approve').first().click()
    await asks(page).getByText('1 of 2 decided').waitFor()
    // The streams tell of the run that has asked, and the page reads what it has left.
    const reading = page.waitForResponse('**/threads/*/state')
    release()
    await (await reading).finished()
    await asks(page).getByText('1 of 2 decided').waitFor()
    await button(asks(page), 'Approve').click()
    await button(asks(page), 'Send').click()
    await answered(page)
  })

  test('a question in words gets an answer in words', async () => {
    const page = await open()
    await choose(page, 'Echo')
    await send(page, 'Ask me')
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Boo to you')
    await button(page, 'Answer').click()
    await lastTurn(page).getByText('Boo to you').waitFor()
    await ask(page, 'Thank you')
  })
})
