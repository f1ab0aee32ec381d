import { describe, expect, inject, test } from 'vitest'
import { ask, button, chatPages, hasBrowser } from './pages.ts'

describe.runIf(hasBrowser)('an address that somebody wrote', () => {
  const { open, allowLostRequests } = chatPages()

  test.each(['/t/%00', '/t/a%2Fb', `/t/${'x'.repeat(3000)}`])(
    '%s leaves a page that begins a new chat',
    async (path) => {
      allowLostRequests()
      const page = await open(path)
      await button(page, 'New chat').first().click()
      await page.waitForURL(/\/$/)
      await ask(page, '1 + 1')
    },
  )

  test('an unknown one says that there is no such thread, and creates none', async () => {
    allowLostRequests()
    const id = crypto.randomUUID()
    const page = await open(`/t/${id}`)
    await page.getByRole('heading', { name: 'There is no such thread' }).waitFor()
    expect((await fetch(`${inject('chatOrigin')}/threads/${id}`)).status).toBe(404)
    await button(page.getByRole('alert'), 'New chat').click()
    await page.waitForURL(/\/$/)
    await ask(page, '1 + 1')
  })
})
