import type { Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { answered, button, chatPages, composer, conversation, hasBrowser, send, turns } from './pages.ts'

describe.runIf(hasBrowser)('what has failed and is tried again', () => {
  const { open, allowLostRequests } = chatPages()

  test('is the message, where the server refused it', async () => {
    allowLostRequests()
    const page = await open()
    await page.route(
      '**/commands',
      (route) => route.fulfill({ status: 429, json: { error: 'limited', message: 'Too many messages.' } }),
      { times: 1 },
    )
    await composer(page).fill('41 + 41')
    await button(page, 'Send').click()
    const alert = page.getByRole('alert').filter({ hasText: 'Too many messages.' })
    await button(alert, 'Try again').click()
    await conversation(page).getByText('41 + 41 = 82.').last().waitFor()
    await answered(page)
    expect(await turns(page).count()).toBe(1)
    expect(await alert.count()).toBe(0)
    await page.reload()
    await answered(page)
    expect(await turns(page).count()).toBe(1)
  })

  test.each([
    [401, 'Sign in to use these agents.', 'Sign in to read this thread.'],
    [429, 'Too many requests.', 'Too many requests. Wait a moment, then try again.'],
  ])('is the page itself, where the server answers %i to everything', async (status, message, unread) => {
    allowLostRequests()
    const page = await open()
    const refuse = (route: Route) => route.fulfill({ status, json: { error: 'refused', message } })
    await page.route(/\/threads(\/|$)/, refuse)
    const path = `/t/${crypto.randomUUID()}`
    await page.goto(new URL(path, page.url()).href)
    await page
      .getByRole('alert')
      .filter({ hasText: `The threads could not be read: ${message}` })
      .waitFor()
    const alert = page.getByRole('alert').filter({ hasText: unread })
    await alert.waitFor()
    expect(await page.getByRole('heading', { name: 'What can I help with?' }).count()).toBe(0)
    await page.unroute(/\/threads(\/|$)/)
    await button(alert, 'Try again').click()
    await page.getByRole('heading', { name: 'There is no such thread' }).waitFor()
    expect(await alert.count()).toBe(0)
  })

  test('is the run, where it failed, also after a reload', async () => {
    const page = await open()
    await send(page, 'Please fail on purpose')
    const failed = page.getByRole('alert').filter({ hasText: 'The model was asked to fail.' })
    await failed.waitFor()
    await page.reload()
    const remembered = page.getByRole('alert').filter({ hasText: 'The last run failed.' })
    const command = page.waitForRequest((request) => request.postData()?.includes('run.start') ?? false)
    await button(remembered, 'Try again').click()
    expect((await command).postDataJSON().params.input).toBeNull()
    await failed.waitFor()
    expect(await turns(page).count()).toBe(1)
  })
})
