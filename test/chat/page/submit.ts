import type { Page } from 'playwright-core'

/** Writes a message and sends it once the page can: the server's HTML takes a text before the code of the page is there. */
export async function submit(page: Page, text: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  await composer.fill(text)
  const send = page.getByRole('button', { name: /^Send/ })
  await send.click({ trial: true })
  // On a touch screen, Enter starts a new line.
  if (await page.evaluate(() => matchMedia('(pointer: coarse)').matches)) await send.click()
  else await composer.press('Enter')
}
