import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChatApp, startChat } from './app.ts'
import {
  answered,
  ask,
  button,
  chatPages,
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
    await conversation(page).getByText('3 + 3 = 6.').last().waitFor({ timeout: 30_000 })
    await answered(page)
    expect(await queue.count()).toBe(0)
    const text = await wordsOf(conversation(page))
    expect(text).not.toContain('2 + 2')
    expect(text.indexOf(END)).toBeLessThan(text.indexOf('1 + 1 = 2.'))
    expect(text.indexOf('1 + 1 = 2.')).toBeLessThan(text.indexOf('3 + 3 = 6.'))
    expect(await turns(page).count()).toBe(3)
  }, 45_000)
})
