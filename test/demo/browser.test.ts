import { connect, createServer, type Socket } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Served } from '../../adapters/node.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { listen } from '../kit/listen.ts'
import { serveDemo } from './server.ts'

if (executablePath === undefined)
  console.warn('No chromium on the path: the browser tests of the demo are skipped.')

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the page in a browser', () => {
  let served: Served
  let browser: Browser
  let page: Page
  let problems: string[]

  beforeAll(async () => {
    served = await serveDemo(4)
    browser = await launchBrowser()
  })
  beforeEach(async () => {
    problems = []
    page = await open('')
  })
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  test('shows both subagents during the run, and the same after a reload', async () => {
    await send('What is 12 * (3 + 4), and what is a checkpoint?')
    const cards = page.locator('.subagent')
    await cards.nth(1).waitFor()
    await idle()
    const seen = await page.locator('#messages').textContent()
    expect(await cards.locator('header').allInnerTexts()).toEqual(['researcher\ndone', 'math-whiz\ndone'])
    expect(await cards.nth(1).locator('.text').textContent()).toBe('12 * (3 + 4) = 84.')
    expect(await cards.locator('code').allInnerTexts()).toEqual(['search', 'calculator'])
    expect(seen).toMatch(/A checkpoint is a copy[\s\S]*12 \* \(3 \+ 4\) = 84\.$/)

    await page.reload()
    await page.locator('.subagent code').nth(1).waitFor()
    expect(await page.locator('#messages').textContent()).toBe(seen)
    expect(await page.locator('#agent').isDisabled()).toBe(true)
  })

  test('streams word by word, continues after a reload in the middle, and stops', async () => {
    await send('Tell me a story')
    const answer = page.locator('.message.ai .text')
    await grows(page)
    await page.reload()
    await grows(page)
    expect(await answer.textContent()).toMatch(/^Once there was a stream/)
    await page.click('#stop')
    await idle()
    expect(await answer.textContent()).not.toContain('supper')

    await send('1 + 1')
    await page.locator('.message.ai', { hasText: '1 + 1 = 2.' }).last().waitFor()
    await idle()
    expect(await page.locator('#messages > li').allInnerTexts()).toEqual([
      'Tell me a story',
      expect.stringMatching(/^Once there was/),
      '1 + 1',
      expect.stringContaining('math-whiz'),
      '1 + 1 = 2.',
    ])
  })

  test('a second tab sees the same run, from its beginning', async () => {
    await send('Tell me a story')
    await grows(page)
    const other = await open(new URL(page.url()).hash)
    await grows(other)
    await Promise.all([idle(), idle(other)])
    const text = await page.locator('#messages').textContent()
    expect(text).toContain('went home for supper.')
    expect(await other.locator('#messages').textContent()).toBe(text)
  })

  test('asks before a letter is sent, and takes yes, no and a changed letter', async () => {
    for (const [address, answer, outcome] of [
      ['ada@example.com', 'Approve', /The letter to ada@example\.com lies in the outbox/],
      ['bob@example.com', 'Reject', /All right, I did not send it\./],
    ] as const) {
      await page.click('#new')
      await page.selectOption('#agent', 'approval')
      await send(`Email ${address} that lunch is at noon`)
      await page.getByRole('button', { name: answer }).waitFor()
      await page.reload()
      await page.getByRole('button', { name: answer }).click()
      await page.locator('.message.ai p', { hasText: outcome }).waitFor()
      await idle()
      expect(await page.locator('.question').count()).toBe(0)
    }
    await page.click('#new')
    await page.selectOption('#agent', 'approval')
    await send('Email eve@example.com about tea')
    const letter = page.getByRole('textbox', { name: 'Arguments of send_email' })
    await letter.fill((await letter.inputValue()).replace('eve@', 'mallory@'))
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.locator('.message.ai p', { hasText: 'The letter to mallory@example.com' }).waitFor()
  })

  test('asks a question in words, and shows the answer', async () => {
    await page.selectOption('#agent', 'echo')
    await page.getByRole('button', { name: 'Ask me' }).click()
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Boo to you')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.locator('.message.ai', { hasText: 'Boo to you' }).waitFor()
    await idle()
    expect(await page.locator('#messages > li').allInnerTexts()).toEqual(['Ask me', 'Boo to you'])
  })

  test('lists threads, opens them and deletes them', async () => {
    await send('2 + 2')
    await idle()
    const first = new URL(page.url()).hash
    await page.click('#new')
    await page.locator('#welcome').waitFor()
    await send('3 + 3')
    await idle()
    await page.locator(`#threads a[href="${first}"]`).click()
    await page.getByText('2 + 2 = 4.').last().waitFor()
    // The list marks the open thread a moment after its messages are there.
    await page.locator(`#threads a[aria-current][href="${first}"]`).waitFor()
    expect(await page.locator('#threads a[aria-current]').getAttribute('href')).toBe(first)
    // A second attempt of this test finds the thread of the first one too.
    const row = page.locator('#threads > *', { has: page.locator(`a[href="${first}"]`) })
    await row.getByRole('button', { name: 'Delete “2 + 2”' }).click()
    await page.locator('#welcome').waitFor()
    expect(await page.locator(`#threads a[href="${first}"]`).count()).toBe(0)
    expect((await fetch(`${served.origin}/threads/${first.slice(1)}/state`)).status).toBe(404)
  })

  test('says when the connection is lost, and misses nothing once it is back', async () => {
    const line = await openLine(served.port)
    page = await open('', `http://127.0.0.1:${line.port}`)
    await send('Tell me a story')
    await grows(page)
    await line.cut()
    await page.getByText('The connection is lost').waitFor()
    await line.mend()
    await page.getByText('went home for supper.').waitFor()
    await idle()
    expect(await page.locator('#notice').textContent()).toBe('')
    const text = await page.locator('#messages').textContent()
    await page.reload()
    await page.getByText('went home for supper.').waitFor()
    expect(await page.locator('#messages').textContent()).toBe(text)
    await page.context().close()
    await line.cut()
    problems = problems.filter((problem) => !problem.includes('net::ERR_'))
  })

  async function open(hash: string, origin = served.origin): Promise<Page> {
    const opened = await (await browser.newContext()).newPage()
    opened.setDefaultTimeout(10_000)
    opened.on('pageerror', (error) => problems.push(String(error)))
    opened.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await opened.goto(`${origin}/${hash}`)
    await opened.locator('#examples button:visible, #messages > li').first().waitFor()
    return opened
  }

  async function send(text: string): Promise<void> {
    await page.fill('#draft', text)
    await page.press('#draft', 'Enter')
    await page.locator('.message.human', { hasText: text }).waitFor()
  }

  /** Waits until the run that has begun before is over. */
  async function idle(where = page): Promise<void> {
    await where.locator('#send').waitFor()
  }
})

/** Waits until the answer has had three different lengths, so that it is being written. */
async function grows(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const lengths = new Set<number>()
    while (lengths.size < 3) {
      lengths.add(document.querySelector('.message.ai .text')?.textContent?.length ?? 0)
      await new Promise(requestAnimationFrame)
    }
  })
}

/** Opens a line to a server that can be cut, so that connections are refused, and mended. */
async function openLine(
  to: number,
): Promise<{ port: number; cut: () => Promise<void>; mend: () => Promise<unknown> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const far = connect(to, '127.0.0.1')
    for (const end of [socket, far]) {
      sockets.add(end)
      end.on('error', () => {}) // Both ends are destroyed on close, whatever the error was.
      end.on('close', () => {
        sockets.delete(end)
        socket.destroy()
        far.destroy()
      })
    }
    socket.pipe(far).pipe(socket)
  })
  const port = await listen(server)
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  return { port, cut, mend: () => listen(server, port) }
}
