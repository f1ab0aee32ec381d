import { describe, test } from 'vitest'
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
})
