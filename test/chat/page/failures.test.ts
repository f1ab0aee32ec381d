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
