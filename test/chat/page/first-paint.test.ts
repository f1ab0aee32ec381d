import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { answered, ask, chatPages, conversation, grows, hasBrowser, send, textOf } from './pages.ts'

const STORY = 'Tell me a long story'

/** Waits until a part of the story stands in the conversation. */
const hasBegun = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    const turn = [...document.querySelectorAll<HTMLElement>('[role="log"] article')].at(-1)
    return turn?.checkVisibility() && turn.innerText.length > 300
  })

/** The words of the conversation in the HTML of a page, without code. */
async function wordsInHtml(page: Page): Promise<string> {
  const html = await (await page.request.get(page.url())).text()
  return page.evaluate((html) => {
    const shown = new DOMParser().parseFromString(html, 'text/html')
    return [...shown.querySelectorAll('[role="log"] article')].map((turn) => turn.textContent).join('\n')
  }, html)
}

/** Notes the words of the conversation in each frame, from the first one that has any. */
const watch = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const frames: string[] = []
    Object.assign(window, { frames })
    const look = (): void => {
      // React shows a part of the page when it has come whole.
      const all = document.querySelectorAll<HTMLElement>('[role="log"] article')
      const turns = [...all].filter((turn) => turn.checkVisibility())
      const words = turns.map((turn) => turn.innerText).join('\n')
      if (words !== '' || frames.length > 0) frames.push(words)
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })

describe.runIf(hasBrowser)('the first paint of a thread', () => {
  const { open } = chatPages()

  test('has half an answer, without code', async () => {
    const page = await open()
    await send(page, STORY)
    await hasBegun(page)
    const half = (await textOf(page)).split('\n').filter((line) => line.length > 20)
    const words = await wordsInHtml(page)
    expect(words).toContain(STORY)
    expect(words.length).toBeGreaterThan(STORY.length + 40)
    expect(half.some((line) => words.includes(line.slice(0, 20)))).toBe(true)
  })

  test('never has less afterwards, while the stream repeats the answer', async () => {
    const page = await open()
    await ask(page, '21 + 21')
    await watch(page)
    let release = (): void => {}
    let released: Promise<void> | undefined
    await page.route('**/threads/*/stream/**', async (route) => {
      await released
      await route.continue()
    })
    // A busy machine may load the page for longer than the story takes. Then there is no stream, and the next story is reloaded.
    let isStreamed = false
    while (!isStreamed) {
      await send(page, STORY)
      await hasBegun(page)
      released = new Promise((resolve) => {
        release = resolve
      })
      const streamed = page.waitForRequest('**/threads/*/stream/**', { timeout: 0 })
      await page.reload()
      isStreamed = await Promise.race([streamed.then(() => true), answered(page).then(() => false)])
      if (!isStreamed) release()
    }
    await hasBegun(page)
    release()
    await grows(page)
    await answered(page)
    const frames = await page.evaluate(() => (window as unknown as { frames: string[] }).frames)
    expect(frames.length).toBeGreaterThan(3)
    // Without the signs of activity around the answer, and those of Markdown before its code is there.
    const lengths = frames.map(
      (words) => words.replace(/\d+ tokens|[\d.]+ s|Thought for|Reasoning|Thinking…|[^\p{L}]/gu, '').length,
    )
    const shrinks = lengths.flatMap((length, at) => (length < (lengths[at - 1] ?? 0) ? [at] : []))
    expect(shrinks.map((at) => frames.slice(at - 1, at + 1))).toEqual([])
  })

  test('shows the end of a long thread before its code is there', async () => {
    const page = await open()
    await ask(page, 'Show me what Markdown can do')
    await ask(page, '22 + 22')
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/_next/static/**/*.js', async (route) => {
      await released
      await route.continue()
    })
    await page.reload({ waitUntil: 'commit' })
    const last = conversation(page).getByText('22 + 22 = 44.').last()
    await last.waitFor()
    const isInView = () =>
      last.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    expect(await isInView()).toBe(true)
    release()
    await page.getByRole('button', { name: 'Copy answer' }).last().click()
    expect(await isInView()).toBe(true)
  })
})
