import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { launchBrowser } from '../../kit/browser.ts'
import { submit } from './submit.ts'

/** False where there is no browser to test with. */
export const hasBrowser = inject('chatOrigin') !== ''

export interface OpenOptions extends BrowserContextOptions {
  readonly origin?: string
}

export interface Pages {
  /** Opens the page in a browser profile of its own. */
  open(path?: string, options?: OpenOptions): Promise<Page>
  /** From now on the browser may log that requests fail, as it does when a server is away. */
  allowLostRequests(): void
}

/** One browser for a file of tests. After each test nothing may have been written to the console as an error. */
export function chatPages(): Pages {
  let browser: Browser
  let problems: string[] = []
  let lostRequests = false
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    const found = problems.filter(
      (problem) => !lostRequests || !/Failed to load resource|net::ERR_/.test(problem),
    )
    problems = []
    lostRequests = false
    expect(found).toEqual([])
  })
  return {
    async open(path = '/', { origin = inject('chatOrigin'), ...options } = {}) {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      page.setDefaultTimeout(60_000)
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      await page.goto(origin + path)
      return page
    },
    allowLostRequests() {
      lostRequests = true
    },
  }
}

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true })

export const conversation = (page: Page): Locator => page.getByRole('log', { name: 'Conversation' })

/** The turns of the conversation: each a message of the user and its answer. */
export const turns = (page: Page): Locator => conversation(page).getByRole('article')

export const lastTurn = (page: Page): Locator => turns(page).last()

export const button = (where: Page | Locator, name: string | RegExp): Locator =>
  where.getByRole('button', { name, exact: true })

/** What the agent waits for. */
export const asks = (page: Page): Locator => page.getByRole('region', { name: 'The agent waits for you' })

/** The rows of the list of threads that have these words in their title. */
export const threadLink = (page: Page, title: string): Locator =>
  page.getByRole('navigation', { name: 'Threads' }).getByRole('link', { name: title })

export async function choose(page: Page, agent: 'Deep agent' | 'Secretary' | 'Echo'): Promise<void> {
  await page.getByRole('radio', { name: agent }).check()
}

/** Does what an entry of a menu stands for. */
export async function pick(where: Page | Locator, menu: string, entry: string): Promise<void> {
  await button(where, menu).first().click()
  await where.getByRole('menuitem', { name: entry }).click()
}

/** Sends a message, and waits until it stands in the conversation. */
export async function send(page: Page, text: string): Promise<void> {
  await submit(page, text)
  await conversation(page).getByText(text, { exact: true }).last().waitFor()
}

/** Waits until the answer to the last message is complete. */
export const answered = (page: Page): Promise<void> => button(lastTurn(page), 'Copy answer').waitFor()

export async function ask(page: Page, text: string): Promise<void> {
  await send(page, text)
  await answered(page)
}

/** A page hears that a media query has changed in its next frame, which a busy machine may draw late. */
export const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate(async () => {
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
  })

/** What a place shows, in lines. */
export const wordsOf = async (place: Locator): Promise<string> => (await place.allInnerTexts()).join('\n')

/** All words of the conversation, without figures that differ from one page to another. */
export async function textOf(page: Page): Promise<string> {
  const text = await wordsOf(conversation(page))
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !/^(Reasoning|Thought for .*|\d+ tokens|[\d.]+ ?m?s|.* min.*)$/.test(line),
    )
    .join('\n')
}

/** Waits until the last answer has had three different lengths, so that it is being written. */
export async function grows(page: Page): Promise<void> {
  await lastTurn(page).evaluate(async (turn) => {
    const lengths = new Set<number>()
    while (lengths.size < 4) {
      lengths.add(turn.textContent?.length ?? 0)
      await new Promise(requestAnimationFrame)
    }
  })
}

/** Stops the stream of a page before the first event of a kind, so that what it shows then stays. It goes on when the answer is called. */
export async function stopBefore(page: Page, event: string): Promise<() => Promise<void>> {
  await page.addInitScript((event) => {
    const { fetch } = window
    const goesOn = new Promise<void>((resolve) => {
      if (sessionStorage.getItem('goes-on')) resolve()
      else window.addEventListener('goes-on', () => resolve(), { once: true })
    })
    // Whole frames alone go through: the name of an event may come in two parts.
    const hold = (): TransformStream<string, string> => {
      let rest = ''
      return new TransformStream({
        async transform(part, controller) {
          const text = rest + part
          const whole = text.lastIndexOf('\n\n') + 2
          if (whole < 2) {
            rest = text
            return
          }
          rest = text.slice(whole)
          const at = text.slice(0, whole).indexOf(`"event":"${event}"`)
          const from = at === -1 ? whole : text.lastIndexOf('\n\n', at) + 2
          controller.enqueue(text.slice(0, from))
          if (at === -1) return
          await goesOn
          controller.enqueue(text.slice(from, whole))
        },
      })
    }
    window.fetch = async (input, init) => {
      const response = await fetch(input, init)
      const url = input instanceof Request ? input.url : String(input)
      if (!/\/threads\/[^/]+\/stream/.test(url) || !response.body) return response
      const held = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(hold())
      return new Response(held.pipeThrough(new TextEncoderStream()), response)
    }
  }, event)
  await page.reload()
  return () =>
    page.evaluate(() => {
      sessionStorage.setItem('goes-on', 'true')
      window.dispatchEvent(new Event('goes-on'))
    })
}
