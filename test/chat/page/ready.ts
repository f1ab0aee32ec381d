import type { Page } from 'playwright-core'

const WAIT_MS = 30_000

/** The server's HTML is there before the code of the page is. What a composer takes, its button can send. */
export async function untilReady(page: Page): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  const send = page.getByRole('button', { name: /^Send/ })
  const end = Date.now() + WAIT_MS
  do {
    if (Date.now() > end) throw new Error(`The composer of ${page.url()} takes no text.`)
    await composer.fill('')
    await composer.fill('Is it ready?')
  } while (!(await send.isEnabled()))
  await composer.fill('')
}
