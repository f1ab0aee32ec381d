import { readFile } from 'node:fs/promises'
import { describe, expect, inject, test } from 'vitest'
import {
  ask,
  button,
  chatPages,
  composer,
  conversation,
  hasBrowser,
  nextFrame,
  pick,
  threadLink,
  turns,
} from './pages.ts'

describe.runIf(hasBrowser)('the list of threads', () => {
  const { open } = chatPages()
  const threadUrl = (path: string) => `${inject('chatOrigin')}/threads/${path.slice('/t/'.length)}`
  const status = async (path: string) => (await fetch(`${threadUrl(path)}/state`)).status
  /** Another client asks in the thread. */
  async function startElsewhere(path: string, text: string) {
    const response = await fetch(`${threadUrl(path)}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 1,
        method: 'run.start',
        params: { assistant_id: 'agent', input: { messages: [{ role: 'user', content: text }] } },
      }),
    })
    expect(await response.json()).toMatchObject({ type: 'success' })
  }

  test('opens, searches and renames threads, the newest first, and another browser sees it', async () => {
    const page = await open()
    await ask(page, '71 + 71')
    const first = new URL(page.url()).pathname
    await button(page, 'New chat').first().click()
    await page.waitForURL(/\/$/)
    await ask(page, '72 + 72')
    await threadLink(page, '72 + 72').waitFor()
    const links = page.getByRole('navigation', { name: 'Threads' }).getByRole('link')
    const newest = async () =>
      (await links.allInnerTexts()).map((text) => /7[12] \+ 7[12]/.exec(text)?.[0]).find(Boolean)
    expect(await newest()).toBe('72 + 72')

    await threadLink(page, '71 + 71').click()
    await conversation(page).getByText('71 + 71 = 142.').last().waitFor()
    expect(new URL(page.url()).pathname).toBe(first)
    await page.goBack()
    await conversation(page).getByText('72 + 72 = 144.').last().waitFor()
    await page.goForward()
    await conversation(page).getByText('71 + 71 = 142.').last().waitFor()

    await button(page, 'Actions for “72 + 72”').click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
    await page.keyboard.press('End')
    await startElsewhere(first, '71 + 72')
    await expect.poll(newest).toBe('71 + 71')
    // Its row has moved, the menu is as it was.
    expect(await page.locator(':focus').innerText()).toBe('Delete')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Actions for “72 + 72”')

    const name = `Sums of ${first.slice(-8)}`
    await pick(page, 'Actions for “71 + 71”', 'Rename')
    await page.getByRole('textbox', { name: 'Title' }).fill(name)
    await page.keyboard.press('Enter')
    await threadLink(page, name).waitFor()
    await page.getByRole('searchbox', { name: 'Search threads' }).fill('sums OF')
    await expect.poll(() => threadLink(page, '72 + 72').count()).toBe(0)
    await threadLink(page, name).waitFor()
    const other = await open(first)
    await threadLink(other, name).waitFor()
    await expect.poll(() => other.title()).toContain(name)
  })

  test('the server names a thread when its first answer is complete, and no two are called the same', async () => {
    const page = await open()
    const titles = new Set<string>()
    for (const count of [1, 2]) {
      await ask(page, 'Show me what Markdown can do')
      const heading = page.getByRole('heading', { name: /^What I can write/, level: 1 })
      titles.add(await heading.innerText())
      expect(titles.size).toBe(count)
      await button(page, 'New chat').first().click()
      await page.waitForURL(/\/$/)
    }
    await ask(page, 'What is 73 + 73?')
    await page.getByRole('heading', { name: '73 + 73', exact: true }).waitFor()
    const named = await open(new URL(page.url()).pathname)
    await threadLink(named, '73 + 73').waitFor()
  })

  test('a thread opens in the devtools, which are one click away from every page', async () => {
    const page = await open()
    const link = page.getByRole('link', { name: 'Devtools', exact: true })
    expect(await link.getAttribute('href')).toBe('/devtools')
    await ask(page, 'What is 76 + 76?')
    const [devtools] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await devtools.getByText('76 + 76 = 152.').last().waitFor()
    await devtools.close()
    const [menu] = await Promise.all([
      page.waitForEvent('popup'),
      pick(page, 'Actions for “76 + 76”', 'Open in the devtools'),
    ])
    await menu.getByText('76 + 76 = 152.').last().waitFor()
  })

  test('a thread is exported as Markdown, and its link is copied', async () => {
    const page = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] })
    await ask(page, 'What is 74 + 74?')
    const menu = 'Actions for “74 + 74”'
    const [file] = await Promise.all([page.waitForEvent('download'), pick(page, menu, 'Export as Markdown')])
    expect(file.suggestedFilename()).toBe('74-74.md')
    const text = await readFile(await file.path(), 'utf8')
    expect(text).toMatch(/^# 74 \+ 74\n\n## You\n\nWhat is 74 \+ 74\?\n\n## Deep agent\n\n/)
    expect(text).toContain('74 + 74 = 148.')
    await pick(page, menu, 'Share link')
    await page.getByText('The link is copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  })

  test('a thread is shown again where it was left', async () => {
    const page = await open('/', { viewport: { width: 800, height: 500 } })
    await ask(page, 'Show me what Markdown can do')
    const path = new URL(page.url()).pathname
    const top = () => conversation(page).evaluate((one) => one.scrollTop)
    const end = await top()
    expect(end).toBeGreaterThan(300)
    await conversation(page).hover()
    await page.mouse.wheel(0, -200)
    await button(page, 'Scroll to the end').waitFor()
    await expect.poll(top).toBe(end - 200)
    await page.reload()
    await expect.poll(top).toBe(end - 200)
    await button(page, 'New chat').first().click()
    await page.waitForURL(/\/$/)
    await page.goBack()
    await expect.poll(() => new URL(page.url()).pathname).toBe(path)
    await expect.poll(top).toBe(end - 200)
    await button(page, 'Scroll to the end').click()
    await page.reload()
    await expect.poll(top).toBe(end)
  })

  test('the open thread is renamed and deleted in the header', async () => {
    const page = await open()
    await ask(page, '77 + 77')
    const header = page.locator('main header')
    await pick(header, 'Actions for “77 + 77”', 'Rename')
    await header.getByRole('textbox', { name: 'Title' }).fill('Sevens')
    await page.keyboard.press('Enter')
    await header.getByRole('heading', { name: 'Sevens' }).waitFor()
    await threadLink(page, 'Sevens').waitFor()
    await pick(header, 'Actions for “Sevens”', 'Delete')
    await page.waitForURL(/\/$/)
    await button(page, 'Undo').waitFor()
    expect(await threadLink(page, 'Sevens').count()).toBe(0)
  })

  test('a text that was not sent is kept for each thread, also after a reload', async () => {
    const page = await open()
    await ask(page, '78 + 78')
    await composer(page).fill('for the thread')
    await button(page, 'New chat').first().click()
    await page.waitForURL(/\/$/)
    expect(await composer(page).inputValue()).toBe('')
    await composer(page).fill('for a new chat')
    await page.goBack()
    await conversation(page).getByText('78 + 78 = 156.').last().waitFor()
    expect(await composer(page).inputValue()).toBe('for the thread')
    await page.reload()
    await expect.poll(() => composer(page).inputValue()).toBe('for the thread')
    await page.goto(new URL('/', page.url()).href)
    await expect.poll(() => composer(page).inputValue()).toBe('for a new chat')
  })

  test('a menu is used with the keyboard, and gives the focus back', async () => {
    const page = await open()
    await ask(page, '75 + 75')
    const menu = button(page, 'Actions for “75 + 75”').first()
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await menu.focus()
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('Rename')
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toBe('Delete')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('Rename')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await expect.poll(() => menu.evaluate((one) => one === document.activeElement)).toBe(true)
    await menu.click()
    await page.getByRole('menu').waitFor()
    await menu.click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  })

  test('deletes a thread, and brings it back while the way back is shown', async () => {
    const page = await open()
    await ask(page, '81 + 81')
    const path = new URL(page.url()).pathname
    await pick(page, 'Actions for “81 + 81”', 'Delete')
    await page.waitForURL(/\/$/)
    expect(await threadLink(page, '81 + 81').count()).toBe(0)
    await button(page, 'Undo').click()
    await conversation(page).getByText('81 + 81 = 162.').last().waitFor()
    expect(await status(path)).toBe(200)

    const other = await open(path)
    await pick(page, 'Actions for “81 + 81”', 'Delete')
    await page.waitForURL(/\/$/)
    await expect.poll(() => status(path)).toBe(404)
    await other.getByRole('heading', { name: 'This thread was deleted' }).waitFor()
    await page.reload()
    await page.getByRole('navigation', { name: 'Threads' }).waitFor()
    expect(await threadLink(page, '81 + 81').count()).toBe(0)
  })

  test('deletes a thread also where the page is left before the time to undo it has passed', async () => {
    const page = await open()
    await ask(page, '82 + 82')
    const path = new URL(page.url()).pathname
    await pick(page, 'Actions for “82 + 82”', 'Delete')
    await button(page, 'Undo').waitFor()
    expect(await status(path)).toBe(200)
    await page.goto('about:blank')
    await expect.poll(() => status(path)).toBe(404)
  })

  test('is used on a phone with the keyboard alone', async () => {
    const page = await open('/', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await ask(page, '92 + 92')
    await button(page, 'Show or hide threads').focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Threads' })
    await drawer.waitFor()
    expect(await drawer.evaluate((one) => one.contains(document.activeElement))).toBe(true)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Show or hide threads')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/$/)
    await expect.poll(focused).toBe('Message')
    await page.keyboard.type('93 + 93')
    await page.keyboard.press('Enter')
    await page.keyboard.type('and more')
    expect(await composer(page).inputValue()).toBe('93 + 93\nand more')
    await page.keyboard.press('Control+Enter')
    await conversation(page).getByText('93 + 93 = 186.').last().waitFor()
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
    const system = async (colorScheme: 'light' | 'dark') => {
      await page.emulateMedia({ colorScheme })
      await nextFrame(page)
    }
    const dark = await background()
    await system('light')
    const light = await background()
    expect(light).not.toBe(dark)
    await system('dark')
    expect(await background()).toBe(dark)
    await button(page, 'Light theme').click()
    expect(await background()).toBe(light)
    await system('light')
    await system('dark')
    expect(await background()).toBe(light)
    await page.reload()
    expect(await background()).toBe(light)
  })
})
