import type { Page } from 'playwright-core'

/** Writes a message and sends it once the page can: the server's HTML takes a text before the code of the page is there. */
export async function submit(page: Page, text: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  await composer.fill(text)
  await page.getByRole('button', { name: /^Send/ }).click({ trial: true })
  await composer.press('Enter')
}
