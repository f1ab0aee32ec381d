import { describe, expect, inject, test } from 'vitest'
import { ask, button, chatPages, conversation, hasBrowser, threadLink, turns } from './pages.ts'

describe.runIf(hasBrowser)('the list of threads', () => {
  const { open } = chatPages()
  const status = async (path: string) =>
    (await fetch(`${inject('chatOrigin')}/threads/${path.slice('/t/'.length)}/state`)).status

  test('opens, searches and renames threads, the newest first, and another browser sees it', async () => {
    const page = await open()
    await ask(page, '71 + 71')
    const first = new URL(page.url()).pathname
    await button(page, 'New chat').first().click()
    await page.waitForURL(/\/$/)
    await ask(page, '72 + 72')
    await threadLink(page, '72 + 72').waitFor()
    const titles = await page.getByRole('navigation', { name: 'Threads' }).getByRole('link').allInnerTexts()
    const at = (title: string) => titles.findIndex((text) => text.includes(title))
    expect(at('72 + 72')).toBeLessThan(at('71 + 71'))

    await threadLink(page, '71 + 71').click()
    await conversation(page).getByText('71 + 71 = 142.').last().waitFor()
    expect(new URL(page.url()).pathname).toBe(first)
    await page.goBack()
    await conversation(page).getByText('72 + 72 = 144.').last().waitFor()
    await page.goForward()
    await conversation(page).getByText('71 + 71 = 142.').last().waitFor()

    const name = `Sums of ${first.slice(-8)}`
    await threadLink(page, '71 + 71').hover()
    await button(page, 'Rename “71 + 71”').click()
    await page.getByRole('textbox', { name: 'Title' }).fill(name)
    await page.keyboard.press('Enter')
    await threadLink(page, name).waitFor()
    await page.getByRole('searchbox', { name: 'Search threads' }).fill('sums OF')
    await expect.poll(() => threadLink(page, '72 + 72').count()).toBe(0)
    await threadLink(page, name).waitFor()
    const other = await open(first)
    await threadLink(other, name).waitFor()
    await expect.poll(() => other.title(), { timeout: 10_000 }).toContain(name)
  })

  test('deletes a thread, and brings it back while the way back is shown', async () => {
    const page = await open()
    await ask(page, '81 + 81')
    const path = new URL(page.url()).pathname
    await threadLink(page, '81 + 81').hover()
    await button(page, 'Delete “81 + 81”').click()
    await page.waitForURL(/\/$/)
    expect(await threadLink(page, '81 + 81').count()).toBe(0)
    await button(page, 'Undo').click()
    await conversation(page).getByText('81 + 81 = 162.').last().waitFor()
    expect(await status(path)).toBe(200)

    const other = await open(path)
    await threadLink(page, '81 + 81').hover()
    await button(page, 'Delete “81 + 81”').click()
    await page.waitForURL(/\/$/)
    await expect.poll(() => status(path), { timeout: 15_000 }).toBe(404)
    await other.getByRole('heading', { name: 'This thread was deleted' }).waitFor()
    await page.reload()
    await page.getByRole('navigation', { name: 'Threads' }).waitFor()
    expect(await threadLink(page, '81 + 81').count()).toBe(0)
  }, 45_000)

  test('deletes a thread also where the page is left before the time to undo it has passed', async () => {
    const page = await open()
    await ask(page, '82 + 82')
    const path = new URL(page.url()).pathname
    await threadLink(page, '82 + 82').hover()
    await button(page, 'Delete “82 + 82”').click()
    await button(page, 'Undo').waitFor()
    expect(await status(path)).toBe(200)
    await page.goto('about:blank')
    await expect.poll(() => status(path), { timeout: 4_000 }).toBe(404)
  })

  test('is a drawer on a phone, which closes when a thread is opened', async () => {
    const page = await open('/', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await ask(page, '91 + 91')
    const nav = page.getByRole('navigation', { name: 'Threads' })
    expect(await nav.count()).toBe(0)
    await button(page, /threads$/)
      .first()
      .click()
    const drawer = page.getByRole('dialog', { name: 'Threads' })
    await drawer.waitFor()
    await button(drawer, 'New chat').click()
    await drawer.waitFor({ state: 'detached' })
    expect(await turns(page).count()).toBe(0)
    await button(page, /threads$/)
      .first()
      .click()
    await threadLink(page, '91 + 91').click()
    await drawer.waitFor({ state: 'detached' })
    await conversation(page).getByText('91 + 91 = 182.').last().waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(wide).toBeLessThanOrEqual(0)
  })

  test('the theme follows the system until it is chosen, and the choice is kept', async () => {
    const page = await open('/', { colorScheme: 'dark' })
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await background()
    await button(page, 'Light theme').click()
    const light = await background()
    expect(light).not.toBe(dark)
    await page.reload()
    expect(await background()).toBe(light)
    const bright = await open('/', { colorScheme: 'light' })
    expect(await bright.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(light)
  })
})
