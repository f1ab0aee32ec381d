import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { launchBrowser } from '../../kit/browser.ts'
import { firstLoad } from './first-load.ts'
import { hasBrowser } from './pages.ts'

const KIB = 1024

describe.runIf(hasBrowser)('what a first visit loads', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test.each(['/', '/t/00000000-0000-7000-8000-000000000000'])(
    '%s is at most 250 KiB of scripts',
    async (path) => {
      const bytes = await firstLoad(browser, inject('chatOrigin') + path)
      expect(bytes).toBeGreaterThan(50 * KIB)
      expect(bytes).toBeLessThanOrEqual(250 * KIB)
    },
  )
})
