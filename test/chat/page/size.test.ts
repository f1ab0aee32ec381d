import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { launchBrowser } from '../../kit/browser.ts'
import { sendCommand } from '../../kit/client.ts'
import { firstLoad } from './first-load.ts'
import { hasBrowser } from './pages.ts'

const KIB = 1024

describe.runIf(hasBrowser)('what a first visit loads', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('/ is at most 250 KiB of scripts', () => expectLoad('/', 250))

  test('a thread is at most 270 KiB of scripts, with those that show its Markdown', async () => {
    const id = crypto.randomUUID()
    const input = { messages: [{ role: 'user', content: '21 + 21' }] }
    const { body } = await sendCommand(inject('chatOrigin'), id, 'run.start', {
      assistant_id: 'agent',
      input,
    })
    expect(body.type).toBe('success')
    await expectLoad(`/t/${id}`, 270)
  })

  async function expectLoad(path: string, kib: number): Promise<void> {
    const bytes = await firstLoad(browser, inject('chatOrigin') + path)
    expect(bytes).toBeGreaterThan(50 * KIB)
    expect(bytes).toBeLessThanOrEqual(kib * KIB)
  }
})
