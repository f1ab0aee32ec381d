import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { textOf } from '../../src/messages/index.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { bundlePage, openScriptPage, problemsOf } from '../kit/site.ts'

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the hooks of a page', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof openScriptPage>>

  beforeAll(async () => {
    site = await openScriptPage(
      await bundlePage({ entryPoints: [fileURLToPath(new URL('page.tsx', import.meta.url))] }),
    )
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** A server whose agent says a word, then waits until it is let go, stopped or answered; and pages of it. */
  async function start() {
    let goOn = () => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const agent = defineAgent({
      async run({ messages, message, interrupt, signal }) {
        const said = textOf(messages.findLast(({ role }) => role === 'user')!)
        if (said === 'ask') {
          const drink = await interrupt<string>({ question: 'Which drink?' })
          await message().text(`You get ${drink}`)
          return
        }
        const answer = message()
        await answer.text(`Heard ${said}`)
        if (said === 'wait') await Promise.race([gate, aborted(signal)])
        await answer.text('.')
      },
    })
    const server = createAgentServer({ agents: { agent }, authenticate: () => ({ id: 'page' }) })
    const { origin, close } = await serve(server, { port: 0, silent: true })
    const context = await browser.newContext()
    onTestFinished(async () => {
      goOn()
      await context.close()
      await close()
    })
    const problems: (readonly string[])[] = []
    const open = async (search = `?api=${encodeURIComponent(origin)}`): Promise<Page> => {
      const page = await context.newPage()
      page.setDefaultTimeout(20_000)
      problems.push(problemsOf(page))
      await page.goto(`${site.origin}/${search}`)
      return page
    }
    return { origin, open, goOn, problems: () => problems.flat() }
  }

  const say = async (page: Page, text: string): Promise<void> => {
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill(text)
    await page.keyboard.press('Enter')
    // React empties the form after its action has begun, and would drop text that is typed before.
    await expect.poll(() => field.inputValue()).toBe('')
  }
  const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
  const tabOf = (page: Page): string => new URL(page.url()).search

  test('a run is stopped by the page that was loaded anew, and by a second tab', async () => {
    const { open, problems } = await start()
    const page = await open()
    await say(page, 'wait')
    await shows(page, 'Heard wait')
    await page.reload()
    await shows(page, 'running')
    await shows(page, 'Heard wait')
    const tab = await open(tabOf(page))
    await shows(tab, 'running')
    await press(tab, 'Stop')
    for (const one of [page, tab]) await shows(one, 'idle')
    await say(page, 'wait')
    await shows(tab, 'running')
    await page.reload()
    await shows(page, 'running')
    await press(page, 'Stop')
    for (const one of [page, tab]) await shows(one, 'idle')
    expect(problems()).toEqual([])
  })

  test('a new chat stays when it gets its thread, and gives way when another is opened', async () => {
    const { open, problems } = await start()
    const page = await open()
    await say(page, 'one')
    await page.getByRole('textbox', { name: 'Message' }).fill('draft')
    await shows(page, 'Heard one.')
    await shows(page, 'idle')
    await page.getByRole('button', { name: 'Open one' }).click()
    const draft = page.getByRole('textbox', { name: 'Message' })
    expect(await draft.inputValue()).toBe('draft')
    await press(page, 'New chat')
    await page.getByText('Heard one.').waitFor({ state: 'detached' })
    expect(await draft.inputValue()).toBe('')
    await page.evaluate('late("late")')
    await say(page, 'two')
    await shows(page, 'Heard two.')
    expect(tabOf(page)).not.toContain('late')
    await press(page, 'Open one')
    await shows(page, 'Heard one.')
    expect(await page.getByText('Heard two.').count()).toBe(0)
    expect(problems()).toEqual([])
  })

  test('the address names the conversation, next to what else it has, and the back button opens it', async () => {
    const { open, problems } = await start()
    const page = await open()
    const [api] = tabOf(page).split('&')
    await page.evaluate("history.replaceState({ own: true }, '', location.search + '#part')")
    await say(page, 'one')
    await shows(page, 'Heard one.')
    await expect.poll(() => tabOf(page)).toMatch(/&thread=/)
    const first = page.url()
    expect(first.endsWith('#part')).toBe(true)
    expect(await page.evaluate('history.state')).toEqual({ own: true })
    await press(page, 'New chat')
    await expect.poll(() => tabOf(page)).toBe(api)
    await say(page, 'two')
    await shows(page, 'Heard two.')
    const second = page.url()
    await page.goBack()
    await shows(page, 'Heard one.')
    expect([page.url(), await page.getByText('Heard two.').count()]).toEqual([first, 0])
    await page.goForward()
    await shows(page, 'Heard two.')
    expect(page.url()).toBe(second)
    expect(problems()).toEqual([])
  })

  test('a page that says with which thread it begins keeps its address', async () => {
    const { origin, open, problems } = await start()
    const page = await open(`?own&thread=other&api=${encodeURIComponent(origin)}`)
    const before = page.url()
    await say(page, 'one')
    await shows(page, 'Heard one.')
    await press(page, 'New chat')
    await page.getByText('Heard one.').waitFor({ state: 'detached' })
    await press(page, 'Open one')
    await shows(page, 'Heard one.')
    expect(page.url()).toBe(before)
    expect(problems()).toEqual([])
  })

  const openOther = async (page: Page): Promise<void> => {
    await press(page, 'New chat')
    await page.getByText('Heard wait').waitFor({ state: 'detached' })
    await press(page, 'Open wait')
  }

  test.each([
    ['another chat was open', openOther, ['two', 'three']],
    // Requests of a page that goes away may arrive in any order.
    ['a reload', (page: Page) => page.reload(), ['two']],
  ])('queued messages are answered after %s', async (_, leave, queued) => {
    const { open, goOn, problems } = await start()
    const page = await open()
    await say(page, 'wait')
    await shows(page, 'Heard wait')
    for (const text of queued) {
      await say(page, text)
      await shows(page, `Queued: ${text}`)
    }
    await leave(page)
    await shows(page, 'Heard wait')
    goOn()
    await shows(page, `Heard ${queued.at(-1)}.`)
    await expect
      .poll(() => page.getByRole('list', { name: 'Messages' }).getByRole('listitem').allInnerTexts())
      .toEqual(['wait', ...queued].flatMap((text) => [text, `Heard ${text}.`]))
    expect(problems()).toEqual([])
  })

  test('a question is asked in both tabs, and is gone in both when one has answered', async () => {
    const { open, problems } = await start()
    const page = await open()
    await say(page, 'ask')
    await shows(page, 'asking')
    await page.reload()
    await shows(page, 'asking')
    const tab = await open(tabOf(page))
    await shows(tab, 'asking')
    await press(tab, 'Answer')
    for (const one of [page, tab]) {
      await shows(one, 'You get tea')
      await shows(one, 'idle')
    }
    expect(problems()).toEqual([])
  })

  test('messages that are sent during a run wait, and can be taken back', async () => {
    const { open, goOn } = await start()
    const page = await open()
    await say(page, 'wait')
    await shows(page, 'Heard wait')
    await say(page, 'two')
    await say(page, 'three')
    await press(page, 'Queued: two')
    await page.getByRole('button', { name: 'Queued: two' }).waitFor({ state: 'detached' })
    goOn()
    await shows(page, 'Heard three.')
    expect(await page.getByRole('list', { name: 'Messages' }).innerText()).not.toContain('two')
  })

  test('threads are renamed, searched, removed and brought back, and the other tab sees it', async () => {
    const { origin, open } = await start()
    const page = await open()
    await say(page, 'apples')
    await shows(page, 'Heard apples.')
    const other = await open()
    await say(other, 'pears')
    await shows(other, 'Heard pears.')
    const threads = (one: Page) => one.getByRole('list', { name: 'Threads' }).getByRole('listitem')
    await expect.poll(() => threads(page).count()).toBe(2)
    await threads(page).filter({ hasText: 'pears' }).getByRole('button', { name: 'Rename' }).click()
    await threads(other).filter({ hasText: 'pears!' }).waitFor()
    await other.getByRole('heading', { name: 'pears!' }).waitFor()
    await page.getByRole('textbox', { name: 'Search' }).fill('PEAR')
    await expect.poll(() => threads(page).count()).toBe(1)
    await page.getByRole('textbox', { name: 'Search' }).fill('')

    const remove = () =>
      threads(page).filter({ hasText: 'pears' }).getByRole('button', { name: 'Remove' }).click()
    const left = async (): Promise<unknown[]> => (await fetch(`${origin}/threads`)).json()
    await remove()
    await expect.poll(() => threads(page).count()).toBe(1)
    expect(await left()).toHaveLength(2)
    await page.evaluate('window.removal.undo()')
    await expect.poll(() => threads(page).count()).toBe(2)
    await remove()
    await page.evaluate('window.removal.finish()')
    expect(await left()).toHaveLength(1)
    await expect.poll(() => threads(other).count()).toBe(1)
    await threads(page).getByRole('button', { name: 'Remove' }).click()
    await page.goto('about:blank')
    await expect.poll(left).toEqual([])
  })

  test('files go out with a message, but those that are too large', async () => {
    const { origin, open } = await start()
    const page = await open()
    await page.getByLabel('Files').setInputFiles([
      { name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('small') },
      { name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(6) },
    ])
    await shows(page, 'small.txt (file)')
    await shows(page, 'large.png: size')
    await say(page, 'look')
    await shows(page, 'Heard look.')
    const id = new URLSearchParams(tabOf(page)).get('thread')
    const state = await (await fetch(`${origin}/threads/${id}/state`)).json()
    expect(state.values.messages[0].content).toEqual([
      { type: 'text', text: 'look' },
      expect.objectContaining({ type: 'file', metadata: { filename: 'small.txt' } }),
    ])
    expect(await page.getByText('small.txt (file)').count()).toBe(0)
  })

  test('what is sent while the server is away arrives when it is back, once', async () => {
    const { open } = await start()
    const page = await open()
    await page.getByRole('navigation').and(page.locator('[aria-busy=false]')).waitFor()
    await page.route('**/threads/**', (route) => route.fulfill({ status: 503 }))
    await say(page, 'late')
    await page.getByText(/, away$/).waitFor()
    await page.unroute('**/threads/**')
    await shows(page, 'Heard late.')
    expect(await page.getByText('Heard late.').count()).toBe(1)
  })
})

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
