import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { launchBrowser } from '../kit/browser.ts'
import type { Json } from '../kit/events.ts'
import { bundlePage, openScriptPage, problemsOf } from '../kit/site.ts'

/** A page with a hook. */
export interface Tab {
  readonly page: Page
  /** Paths of the requests and of the web sockets that the page has opened, as `POST /threads` and `socket /threads/…`. */
  readonly requests: readonly string[]
  /** Calls a method of the hook, and does not wait for what comes of it. */
  call(method: string, ...given: Json[]): Promise<void>
  say(text: string, options?: Json): Promise<void>
  /** What the page shows now. */
  shown(): Promise<Json>
  /** Waits until the page shows this. */
  shows(expected: Json): Promise<void>
  /** The thread that the page has open. */
  threadId(): Promise<string>
  /** What the hook's callbacks were called with: the name of each, and its arguments. */
  told(name: string): Promise<Json[][]>
}

export interface TabOptions {
  readonly hook: 'newer' | 'older'
  readonly api: string
  readonly thread?: string
  /** Options of the hook beside the address and the agent. */
  readonly options?: Json
  /** What the browser may log as errors. */
  readonly problems?: RegExp
}

export type OpenTab = (options: TabOptions) => Promise<Tab>

/** One browser for all tests of a file, and the page on a port of its own. */
export function openSite(): OpenTab {
  let browser: Browser
  let site: Awaited<ReturnType<typeof openScriptPage>>
  beforeAll(async () => {
    const script = await bundlePage({ entryPoints: [fileURLToPath(new URL('page.tsx', import.meta.url))] })
    site = await openScriptPage(script)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })
  return ({ hook, api, thread, options = {}, problems }) => {
    const query = new URLSearchParams({ hook, api, options: JSON.stringify(options) })
    if (thread !== undefined) query.set('thread', thread)
    return openTab(browser, `${site.origin}/?${query}`, problems)
  }
}

async function openTab(browser: Browser, url: string, allowed?: RegExp): Promise<Tab> {
  const page = await browser.newPage()
  const problems = problemsOf(page)
  const requests: string[] = []
  page.setDefaultTimeout(30_000)
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  page.on('websocket', (socket) => requests.push(`socket ${new URL(socket.url()).pathname}`))
  onTestFinished(async () => {
    await page.close()
    expect(problems.filter((problem) => !allowed?.test(problem))).toEqual([])
  })
  await page.goto(url)
  const shown = async () => JSON.parse((await page.locator('pre').textContent()) ?? '')
  const call = (method: string, ...given: Json[]) =>
    page.evaluate(([name, args]) => void window.stream[name](...args), [method, given] as [string, Json[]])
  return {
    page,
    requests,
    call,
    say: (text, ...more) => call('submit', { messages: [{ type: 'human', content: text }] }, ...more),
    shown,
    shows: (expected) => expect.poll(shown).toMatchObject(expected),
    threadId: async () => (await shown()).threadId,
    told: (name) => page.evaluate((wanted) => window.told.filter(([told]) => told === wanted), name),
  }
}
