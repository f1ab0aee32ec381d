import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { answered, ask, button, chatPages, composer, conversation, hasBrowser, turns } from './pages.ts'

/** Holds the requests of a page back until `release` is called. */
async function hold(page: Page, url: string): Promise<() => void> {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(url, async (route) => {
    await released
    await route.continue()
  })
  return release
}

describe.runIf(hasBrowser)('a page whose code is not there yet', () => {
  const { open } = chatPages()
  const SCRIPTS = '**/_next/static/**/*.js'

  test('keeps what is typed, to be sent when the code is there', async () => {
    const page = await open()
    const release = await hold(page, SCRIPTS)
    await page.reload({ waitUntil: 'commit' })
    await composer(page).fill('31 + 31')
    await composer(page).press('Enter')
    expect(await button(page, 'Send').isDisabled()).toBe(true)
    release()
    await button(page, 'Send').click()
    await conversation(page).getByText('31 + 31 = 62.').last().waitFor()
    expect(await composer(page).inputValue()).toBe('')
  })

  test('has no prompt or button that would do nothing', async () => {
    const page = await open()
    const release = await hold(page, SCRIPTS)
    await page.reload({ waitUntil: 'commit' })
    const prompt = button(page, 'Show me what Markdown can do')
    expect(await prompt.isDisabled()).toBe(true)
    for (const name of ['New chat', 'Show or hide threads', 'Keys', 'Attach files'])
      expect(await button(page, name).first().isDisabled()).toBe(true)
    release()
    await prompt.click()
    await answered(page)
  })

  test('sends a message that was sent before the thread was read', async () => {
    const page = await open()
    await ask(page, '32 + 32')
    const release = await hold(page, '**/threads/*/state')
    await page.reload()
    await composer(page).fill('33 + 33')
    await button(page, 'Send').click()
    release()
    await conversation(page).getByText('33 + 33 = 66.').last().waitFor()
    await answered(page)
    expect(await turns(page).count()).toBe(2)
  })
})
