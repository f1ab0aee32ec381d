import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  answered,
  ask,
  button,
  chatPages,
  choose,
  composer,
  conversation,
  hasBrowser,
  lastTurn,
  send,
  textOf,
  turns,
  wordsOf,
} from './pages.ts'
import { submit } from './submit.ts'

describe.runIf(hasBrowser)('the conversation', () => {
  const { open } = chatPages()

  test('a prompt of the empty page begins a thread, whose address shows it again', async () => {
    const page = await open()
    await button(page, 'Show me what Markdown can do').click()
    await answered(page)
    await page.waitForURL(/\/t\/[\w-]+$/)
    const seen = await textOf(page)
    const other = await open(new URL(page.url()).pathname)
    await answered(other)
    await expect.poll(() => textOf(other)).toBe(seen)
    await page.reload()
    await answered(page)
    await expect.poll(() => textOf(page)).toBe(seen)
  })

  test('Markdown becomes headings, a table, a list, coloured code and links', async () => {
    const page = await open()
    await ask(page, 'Show me Markdown')
    const answer = lastTurn(page)
    await answer.getByRole('heading', { name: 'What I can write' }).waitFor()
    expect(await answer.getByRole('row').allInnerTexts()).toHaveLength(3)
    expect(await answer.getByRole('listitem').count()).toBe(5)
    expect(await answer.locator('strong', { hasText: 'bold' }).count()).toBe(1)
    const link = answer.getByRole('link', { name: 'link to the home of Markdown' })
    expect(await link.getAttribute('href')).toBe('https://commonmark.org')
    expect(await link.getAttribute('rel')).toContain('noopener')
    const code = answer.getByRole('figure', { name: 'Code in ts' })
    await code.locator('.hljs-keyword').first().waitFor()
    expect(await wordsOf(answer)).not.toMatch(/\*\*bold|```|\|---/)
  })

  test('text from right to left is laid out from right to left, long words break, and cells have line breaks', async () => {
    const page = await open('/', { viewport: { width: 390, height: 844 } })
    await choose(page, 'Echo')
    const markdown = [
      'שלום, **עולם**!',
      '- הראשון',
      '> ציטוט',
      `${'long'.repeat(60)} \`${'code'.repeat(60)}\``,
      '| a | b |\n|---|---|\n| one<br>two | ש |',
      'A fact[^1] and \\(a_1 + b_1\\).',
      '[^1]: Only once.',
    ].join('\n\n')
    await submit(page, markdown)
    await answered(page)
    const answer = lastTurn(page)
    const directionOf = (place: Locator) => place.evaluate((one) => getComputedStyle(one).direction)
    const words = answer.locator('strong', { hasText: 'עולם' })
    const edges = await words.evaluate((one) => {
      const [start, end] = [one.closest('p')!, one].map((place) => place.getBoundingClientRect())
      return { before: end!.left - start!.left, behind: start!.right - end!.right }
    })
    expect(edges.behind).toBeLessThan(edges.before)
    expect(await directionOf(answer.getByRole('list'))).toBe('rtl')
    expect(await directionOf(answer.getByRole('blockquote'))).toBe('rtl')
    expect(await directionOf(answer.getByRole('table'))).toBe('ltr')
    expect(await answer.getByRole('cell').allInnerTexts()).toEqual(['one\ntwo', 'ש'])
    expect(await answer.getByText('a_1 + b_1', { exact: true }).count()).toBe(1)
    expect(await answer.locator('p', { hasText: /^\[\^1\]: Only once\.$/ }).count()).toBe(1)
    expect(await conversation(page).evaluate((log) => log.scrollWidth - log.clientWidth)).toBe(0)
  })

  test('hostile Markdown is text: no script runs, no element is made, no address is followed', async () => {
    const page = await open()
    await choose(page, 'Echo')
    const hostile = [
      '<img src=x onerror="window.harmed = 1"><script>window.harmed = 2</script>',
      '[a link](javascript:window.harmed=3) [another](JaVaScRiPt:window.harmed=4) <a href="javascript:window.harmed=5">third</a>',
      '[data](data:text/html,<script>window.harmed=6</script>) ![image](javascript:window.harmed=7)',
      '<iframe src="javascript:window.harmed=8"></iframe><svg onload="window.harmed = 9"></svg>',
      '```html" onmouseover="window.harmed=10\n<b>code</b>\n```',
    ].join('\n\n')
    await composer(page).fill(hostile)
    await composer(page).press('Enter')
    await answered(page)
    const answer = lastTurn(page)
    for (const link of await answer.getByRole('link').all())
      expect(await link.getAttribute('href')).toMatch(/^(https?|mailto):/)
    expect(
      await answer.locator('iframe, script, img, svg[onload], [onerror], [onmouseover], b').count(),
    ).toBe(0)
    await answer.getByText('a link', { exact: false }).last().click()
    expect(await page.evaluate('window.harmed')).toBeUndefined()
  })

  test('files go out with a message, can be taken out before, and come back in an answer', async () => {
    const page = await open()
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const chooser = page.waitForEvent('filechooser')
    await button(page, 'Attach files').click()
    await (await chooser).setFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: png },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('one two three') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('not this one') },
    ])
    await button(page, 'Remove wrong.txt').click()
    await ask(page, 'What are these?')
    const question = lastTurn(page).getByRole('list', { name: 'Attachments' }).first()
    expect(await question.getByRole('link').all()).toHaveLength(2)
    await question.getByRole('img', { name: 'dot.png' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      question.getByRole('link', { name: 'Download notes.txt' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('notes.txt')
    expect(await wordsOf(lastTurn(page))).toContain('dot.png')
    expect(await wordsOf(lastTurn(page))).not.toContain('wrong.txt')

    await ask(page, 'Draw a chart of a week of coffee')
    const image = lastTurn(page).getByRole('img')
    await image.waitFor()
    expect(await image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBeGreaterThan(10)
    await ask(page, 'As csv')
    await lastTurn(page)
      .getByRole('link', { name: /^Download/ })
      .waitFor()
  })

  test('files also come by paste and by drop', async () => {
    const page = await open()
    const bring = (event: 'paste' | 'drop' | 'dragover' | 'dragleave', name: string) =>
      composer(page).evaluate(
        (field, { event, name }) => {
          const data = new DataTransfer()
          data.items.add(new File([`The words of ${name}`], name, { type: 'text/plain' }))
          const init = { bubbles: true, cancelable: true }
          field.dispatchEvent(
            event === 'paste'
              ? new ClipboardEvent('paste', { ...init, clipboardData: data })
              : new DragEvent(event, { ...init, dataTransfer: data }),
          )
        },
        { event, name },
      )
    await button(page, 'Attach files').click({ trial: true })
    await bring('paste', 'pasted.txt')
    const notice = page.getByText('Drop files to attach them')
    await bring('dragover', 'dropped.txt')
    await notice.waitFor()
    await bring('dragleave', 'dropped.txt')
    await notice.waitFor({ state: 'detached' })
    await bring('dragover', 'dropped.txt')
    await notice.waitFor()
    await bring('drop', 'dropped.txt')
    await notice.waitFor({ state: 'detached' })
    await button(page, 'Remove dropped.txt').waitFor()
    await ask(page, 'What are these?')
    expect(await wordsOf(lastTurn(page))).toContain('pasted.txt')
    expect(await wordsOf(lastTurn(page))).toContain('dropped.txt')
  })

  test('answers, messages and code are copied as they were written', async () => {
    const page = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] })
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await ask(page, 'Show me Markdown')
    await button(lastTurn(page), 'Copy code').click()
    await button(lastTurn(page), 'Copied').waitFor()
    expect(await copied()).toMatch(/^const words = \['one', 'two', 'three'\]\n/)
    await button(lastTurn(page), 'Copy answer').click()
    await button(lastTurn(page), 'Copied').first().waitFor()
    expect(await copied()).toMatch(/^## What I can write\n\nA \*\*bold\*\* word/)
    await lastTurn(page).getByText('Show me Markdown', { exact: true }).hover()
    await button(lastTurn(page), 'Copy message').click()
    await expect.poll(copied).toBe('Show me Markdown')
  })

  test('an answer can be asked for again, and both are kept as versions', async () => {
    const page = await open()
    await ask(page, '1 + 1')
    await button(lastTurn(page), 'Regenerate').click()
    await lastTurn(page).getByText('2 / 2').waitFor()
    await answered(page)
    expect(await turns(page).count()).toBe(1)
    expect(await wordsOf(lastTurn(page))).toContain('1 + 1 = 2.')
  })

  test('another agent answers the same message in a new chat', async () => {
    const page = await open()
    await ask(page, 'What is 5 + 5?')
    const path = new URL(page.url()).pathname
    await button(lastTurn(page), 'Ask an agent in a new chat').click()
    await page.getByRole('menuitem', { name: 'Echo' }).click()
    await expect.poll(() => new URL(page.url()).pathname).not.toBe(path)
    await answered(page)
    expect(await turns(page).count()).toBe(1)
    expect((await wordsOf(lastTurn(page))).match(/What is 5 \+ 5\?/g)).toHaveLength(2)
    await page.locator('header').getByText('Echo').waitFor()
    await page.goBack()
    await conversation(page).getByText('5 + 5 = 10.').last().waitFor()
    await button(page, 'New chat').first().click()
    await page.getByRole('radio', { name: 'Deep agent' }).waitFor()
    expect(await turns(page).count()).toBe(0)
  })

  test('what an agent thought has its time, also after a reload', async () => {
    const page = await open()
    await ask(page, 'Show me what Markdown can do')
    await page.reload()
    await lastTurn(page)
      .getByText(/^Thought for [\d.]+ s$/)
      .waitFor()
  })

  test('files of the agent and of messages stand in a panel, also after a reload', async () => {
    const page = await open()
    await ask(page, 'Write a report about coffee')
    await button(page, '1 file').waitFor()
    await page.reload()
    await button(page, '1 file').click()
    const panel = page.getByRole('complementary', { name: 'Files' })
    await panel.getByRole('heading', { name: 'Report: coffee' }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      button(panel, 'Download coffee.md').click(),
    ])
    expect(file.suggestedFilename()).toBe('coffee.md')
    await ask(page, 'Draw a chart of a week of coffee')
    await button(panel, 'coffee.svg').click()
    await panel.getByRole('img', { name: 'coffee.svg' }).waitFor()
    await button(panel, 'Close files').click()
    await button(page, '2 files').waitFor()
  })

  test('an earlier message that is edited makes a branch, and one can go back and forth between both', async () => {
    const page = await open()
    await ask(page, '1 + 1')
    await ask(page, '2 + 2')
    const first = turns(page).first()
    await first.getByText('1 + 1', { exact: true }).hover()
    await button(first, 'Edit message').click()
    const editor = page.getByRole('textbox', { name: 'Edited message' })
    await editor.fill('3 + 3')
    await editor.press('Enter')
    await conversation(page).getByText('3 + 3 = 6.').last().waitFor()
    await first.getByText('2 / 2').waitFor()
    expect(await turns(page).count()).toBe(1)

    await button(first, 'Version before').click()
    await conversation(page).getByText('2 + 2 = 4.').last().waitFor()
    await first.getByText('1 / 2').waitFor()
    expect(await turns(page).count()).toBe(2)
    expect(await wordsOf(conversation(page))).not.toContain('3 + 3')
    await button(first, 'Next version').click()
    await conversation(page).getByText('3 + 3 = 6.').last().waitFor()

    await send(page, '4 + 4')
    await conversation(page).getByText('4 + 4 = 8.').last().waitFor()
    await answered(page)
    expect(await turns(page).count()).toBe(2)
    expect(await wordsOf(conversation(page))).not.toContain('2 + 2')
  })

  test('a model that fails is told in its own words, and the next message is answered', async () => {
    const page = await open()
    await send(page, 'Please fail on purpose')
    const alert = page.getByRole('alert').filter({ hasText: 'The model was asked to fail.' })
    await alert.waitFor()
    await ask(page, '1 + 1')
    expect(await wordsOf(lastTurn(page))).toContain('1 + 1 = 2.')
    expect(await alert.count()).toBe(0)
  })
})
