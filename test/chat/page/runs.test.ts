import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gate } from '../../kit/wait.ts'
import { type ChatApp, startChat } from './app.ts'
import {
  answered,
  ask,
  asks,
  button,
  chatPages,
  choose,
  composer,
  conversation,
  grows,
  hasBrowser,
  lastTurn,
  send,
  textOf,
  turns,
  wordsOf,
} from './pages.ts'

const END = 'it is still being written'

describe.runIf(hasBrowser)('a run in the page', () => {
  const pages = chatPages()
  let app: ChatApp
  beforeAll(async () => {
    // Slow enough for a browser that has much to do: the run must not be over before its middle is looked at.
    app = await startChat({ speed: 60 })
  })
  afterAll(async () => {
    app?.program.child.kill('SIGTERM')
    await app?.program.exit
  })
  const open = (path = '/') => pages.open(path, { origin: app.origin })

  test('goes on after a reload in its middle, with nothing lost and nothing twice', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await grows(page)
    await page.reload()
    await grows(page)
    await lastTurn(page).getByText(END).waitFor()
    await answered(page)
    const seen = await textOf(page)
    expect(seen.split('Once there was a stream')).toHaveLength(2)
    const fresh = await open(new URL(page.url()).pathname)
    await answered(fresh)
    await expect.poll(() => textOf(fresh)).toBe(seen)
  })

  test('is shown by another browser from its beginning, which stays in step', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await page.waitForURL(/\/t\//)
    const other = await open(new URL(page.url()).pathname)
    await lastTurn(other).getByText('Once there was a stream').waitFor()
    await grows(other)
    await Promise.all([answered(page), answered(other)])
    await expect.poll(() => textOf(other)).toBe(await textOf(page))
    await ask(other, '1 + 1')
    await conversation(page).getByText('1 + 1 = 2.').last().waitFor()
    await answered(page)
    await expect.poll(() => textOf(page)).toBe(await textOf(other))
  })

  test('is stopped, which its answer says, also after a reload, and the next message is answered', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await lastTurn(page).getByText('Once there was a stream').waitFor()
    expect(await button(page, /^Send/).count()).toBe(0)
    await button(page, 'Stop').click()
    await lastTurn(page).getByText('Stopped', { exact: true }).waitFor()
    await button(page, 'Stop').waitFor({ state: 'detached' })
    const cut = await textOf(page)
    expect(cut).toContain('Once there was a stream')
    expect(cut).not.toContain(END)
    await page.reload()
    await lastTurn(page).getByText('Stopped', { exact: true }).waitFor()
    expect(await wordsOf(conversation(page))).toContain('Once there was a stream')
    await ask(page, '1 + 1')
    expect(await wordsOf(lastTurn(page))).toContain('1 + 1 = 2.')
    expect(await turns(page).count()).toBe(2)
  })

  test('is stopped by a page that was loaded anew in its middle, and the next message is answered at once', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await grows(page)
    await page.reload()
    await grows(page)
    await button(page, 'Stop').click()
    await lastTurn(page).getByText('Stopped', { exact: true }).waitFor()
    await button(page, 'Stop').waitFor({ state: 'detached' })
    const cut = await textOf(page)
    await ask(page, '1 + 1')
    const text = await textOf(page)
    expect(text).toContain('1 + 1 = 2.')
    expect(text.startsWith(cut)).toBe(true)
    expect(text).not.toContain(END)
    expect(await turns(page).count()).toBe(2)
  })

  test('that goes on with an answer of the user is stopped, and the next message is answered at once', async () => {
    const page = await open()
    await choose(page, 'Echo')
    await send(page, 'Ask me')
    const words = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(' ')
    await asks(page).getByRole('textbox').fill(words)
    await button(asks(page), 'Answer').click()
    await lastTurn(page).getByText('word1 word2').waitFor()
    await grows(page)
    await button(page, 'Stop').click()
    await lastTurn(page).getByText('Stopped', { exact: true }).waitFor()
    await button(page, 'Stop').waitFor({ state: 'detached' })
    await ask(page, 'Hello again')
    const text = await textOf(page)
    expect(text.split('Hello again')).toHaveLength(3)
    expect(text).not.toContain('word1999')
    expect(await asks(page).count()).toBe(0)
  })

  test('is stopped also where the page is faster than the message that starts it', async () => {
    // Before the message has come, the server knows no thread, and a browser logs that.
    pages.allowLostRequests()
    const page = await open()
    const sent = gate()
    await page.route(/\/threads\/[^/]+\/commands/, async (route) => {
      await sent.opened
      await route.continue()
    })
    await send(page, 'Tell me a long story')
    const cancelled = page.waitForResponse(/\/runs\/cancel/)
    await button(page, 'Stop').click()
    await cancelled
    sent.open()
    await button(page, 'Stop').waitFor({ state: 'detached' })
    await ask(page, '1 + 1')
    expect(await textOf(page)).toContain('1 + 1 = 2.')
    expect(await textOf(page)).not.toContain(END)
  })

  test('has no finished answer in a page that is loaded anew in its middle, until it has ended', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await grows(page)
    await page.addInitScript(() => {
      const seen = { finished: false, nothing: false }
      Object.assign(window, { seen })
      const look = (): void => {
        const turn = [...document.querySelectorAll('article')].at(-1)
        const text = turn?.textContent ?? ''
        const isWritten = text.includes('it is still being written')
        if (!isWritten && turn?.querySelector('footer')) seen.finished = true
        if (/\b0\.0 s/.test(text)) seen.nothing = true
        requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })
    // The stream comes late, so that the page has only what the thread tells.
    const stream = gate()
    await page.route(/\/threads\/[^/]+\/stream/, async (route) => {
      await stream.opened
      await route.continue()
    })
    await page.reload()
    await button(page, 'Stop').waitFor()
    stream.open()
    await grows(page)
    await lastTurn(page).getByText(END).waitFor()
    await answered(page)
    expect(await page.evaluate('window.seen')).toEqual({ finished: false, nothing: false })
  })

  test('makes later messages wait: they are shown as queued, can be removed, and are sent in order', async () => {
    const page = await open()
    await send(page, 'Tell me a long story')
    await grows(page)
    for (const text of ['1 + 1', '2 + 2', '3 + 3']) {
      await composer(page).fill(text)
      await composer(page).press('Enter')
    }
    const queue = page.getByRole('list', { name: 'Queued messages' })
    await queue.getByText('3 + 3').waitFor()
    expect(await queue.getByRole('listitem').count()).toBe(3)
    await button(queue.getByRole('listitem').filter({ hasText: '2 + 2' }), 'Remove from the queue').click()
    await expect.poll(() => queue.getByRole('listitem').count()).toBe(2)
    await conversation(page).getByText('3 + 3 = 6.').last().waitFor()
    await answered(page)
    expect(await queue.count()).toBe(0)
    const text = await wordsOf(conversation(page))
    expect(text).not.toContain('2 + 2')
    expect(text.indexOf(END)).toBeLessThan(text.indexOf('1 + 1 = 2.'))
    expect(text.indexOf('1 + 1 = 2.')).toBeLessThan(text.indexOf('3 + 3 = 6.'))
    expect(await turns(page).count()).toBe(3)
  })
})
