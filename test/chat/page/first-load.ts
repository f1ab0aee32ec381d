import type { Browser, Page } from 'playwright-core'

/** Bytes of JavaScript, compressed as the server sends them, that a page loads until it rests, `use` of it included. */
export async function firstLoad(
  browser: Browser,
  url: string,
  use?: (page: Page) => Promise<unknown>,
): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const client = await context.newCDPSession(page)
  const scripts = new Set<string>()
  let bytes = 0
  client.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await client.send('Network.enable')
  await page.goto(url)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await use?.(page)
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {
    // A thread keeps its stream open.
  })
  await context.close()
  return bytes
}
