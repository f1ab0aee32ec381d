import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  answered,
  ask,
  button,
  chatPages,
  choose,
  composer,
  hasBrowser,
  lastTurn,
  nextFrame,
  send,
} from './pages.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A folder for screenshots, which people look at: SCREENSHOTS=folder. */
const { SCREENSHOTS } = process.env

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

const COLOR_SCHEMES = ['light', 'dark'] as const

/** Whether axe finds nothing, in both color schemes. */
async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of COLOR_SCHEMES) {
    await page.emulateMedia({ colorScheme })
    await nextFrame(page)
    await page.evaluate(async () => {
      const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition)
      await Promise.allSettled(transitions.map((one) => one.finished))
    })
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) })
    await page.evaluate(axe)
    const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[]
    const found = violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }))
    expect(found, `${name}, ${colorScheme}`).toEqual([])
  }
}

/** What a finger could miss: all that is pressed and is lower or narrower than 44 px, but links within a text. */
const smallTargets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, summary, textarea, a[href], input:not([hidden])')]
      .filter((one) => one.checkVisibility({ opacityProperty: true }) && !one.closest('p, li > p'))
      .filter((one) => !one.matches('.sr-only'))
      .filter((one) => {
        const { width, height } = one.getBoundingClientRect()
        return width < 44 || height < 44
      })
      .map((one) => one.outerHTML.slice(0, 120)),
  )

describe.runIf(hasBrowser)('axe finds nothing', () => {
  const { open, allowLostRequests } = chatPages()
  // What fades in has another contrast until it is there.
  const page = (path = '/') => open(path, { reducedMotion: 'reduce' })

  test('in the empty page', async () => {
    await look(await page(), 'empty')
  })

  test('in a conversation with everything, with a subagent opened, and in its editor', async () => {
    const opened = await page()
    await ask(opened, 'Show me Markdown')
    await ask(opened, 'Draw a chart of a week of coffee')
    await ask(opened, 'What is 12 * (3 + 4), and what is a checkpoint?')
    await send(opened, 'Tell me a long story')
    await composer(opened).fill('1 + 1')
    await composer(opened).press('Enter')
    await opened.getByRole('list', { name: 'Queued messages' }).waitFor()
    await look(opened, 'running')
    await button(opened, 'Stop').click()
    await opened.getByText('1 + 1 = 2.').last().waitFor()
    await answered(opened)
    await look(opened, 'conversation')
    await opened.reload()
    await answered(opened)
    await button(opened, /^Subagent researcher/).click()
    await opened.getByRole('dialog').getByText('A checkpoint is a copy').last().waitFor()
    await look(opened, 'subagent')
    await opened.keyboard.press('Escape')
    await opened.getByRole('dialog').waitFor({ state: 'detached' })
    await lastTurn(opened).getByText('1 + 1', { exact: true }).hover()
    await button(lastTurn(opened), 'Edit message').click()
    await look(opened, 'editor')
  })

  test('in approvals, their form, and a rejected call', async () => {
    const opened = await page()
    await choose(opened, 'Secretary')
    await send(opened, 'Email ada@example.com and bob@example.com that lunch is at noon')
    await button(opened, 'Approve').first().waitFor()
    await look(opened, 'approvals')
    await button(opened, 'Edit').first().click()
    await look(opened, 'form')
    await button(opened, 'Cancel').click()
    for (const _ of [1, 2]) {
      await button(opened, 'Reject').first().click()
      await button(opened, 'Reject').first().click()
    }
    await button(opened, 'Send').first().click()
    await answered(opened)
    await look(opened, 'rejected')
  })

  test('on a phone, in its drawer and in a dialog', async () => {
    const opened = await open('/', {
      reducedMotion: 'reduce',
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    await look(opened, 'phone-empty')
    expect(await smallTargets(opened)).toEqual([])
    await ask(opened, 'Show me Markdown')
    await ask(opened, 'Write a report about coffee')
    await look(opened, 'phone')
    expect(await smallTargets(opened)).toEqual([])
    const wide = await opened.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(wide).toBeLessThanOrEqual(0)
    await button(opened, /threads$/)
      .first()
      .click()
    await opened.getByRole('dialog', { name: 'Threads' }).getByRole('link').first().waitFor()
    await look(opened, 'drawer')
    expect(await smallTargets(opened)).toEqual([])
    await opened
      .getByRole('dialog')
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click()
    await opened.getByRole('menuitem', { name: 'Delete' }).waitFor()
    await look(opened, 'menu')
    await opened.keyboard.press('Escape')
    await opened.getByRole('menu').waitFor({ state: 'detached' })
    await opened.getByRole('dialog', { name: 'Threads' }).waitFor()
  })

  test('where a run has failed, and where the server refuses everything', async () => {
    allowLostRequests()
    const opened = await page()
    await send(opened, 'Please fail on purpose')
    await opened.getByRole('alert').filter({ hasText: 'asked to fail' }).waitFor()
    await look(opened, 'failed')
    await opened.route(/\/threads(\/|$)/, (route) =>
      route.fulfill({ status: 401, json: { error: 'unauthenticated', message: 'Sign in.' } }),
    )
    await opened.reload()
    await opened.getByRole('alert').filter({ hasText: 'could not be read' }).waitFor()
    await opened.getByRole('alert').filter({ hasText: 'Sign in to read this thread.' }).waitFor()
    await look(opened, 'refused')
    await opened.route(/\/threads(\/|$)/, (route) => route.abort())
    await opened.reload()
    await opened.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
    await look(opened, 'away')
  })

  test('on a tablet, with a question and with its files', async () => {
    const opened = await open('/', {
      reducedMotion: 'reduce',
      viewport: { width: 820, height: 1100 },
      hasTouch: true,
      isMobile: true,
    })
    await look(opened, 'tablet-empty')
    expect(await smallTargets(opened)).toEqual([])
    await send(opened, 'Research coffee, and ask me what exactly')
    await opened.getByRole('textbox', { name: 'Your answer' }).waitFor()
    await look(opened, 'tablet-question')
    expect(await smallTargets(opened)).toEqual([])
    await opened.getByRole('textbox', { name: 'Your answer' }).fill('Where it grows')
    await button(opened, 'Answer').click()
    await answered(opened)
    await ask(opened, 'Draw a chart of a week of coffee')
    await button(opened, '1 file').click()
    await opened.getByRole('dialog', { name: 'Files' }).getByRole('img').waitFor()
    await look(opened, 'tablet-files')
    expect(await smallTargets(opened)).toEqual([])
    await opened.keyboard.press('Escape')
    await opened.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('with its files beside it', async () => {
    const opened = await page()
    await ask(opened, 'Write a report about coffee')
    await ask(opened, 'Draw a chart of a week of coffee')
    await button(opened, '2 files').click()
    await opened.getByRole('heading', { name: 'Report: coffee' }).waitFor()
    await look(opened, 'files')
  })

  test('in the dialog of the keys', async () => {
    const opened = await page()
    await button(opened, 'Keys').click()
    await opened.getByRole('dialog', { name: 'Keys' }).waitFor()
    await look(opened, 'keys')
  })
})
