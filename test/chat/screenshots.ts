/** Takes the pictures of the chat for the docs: `npx tsx test/chat/screenshots.ts` writes them to docs/public/chat. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { build, ROOT } from '../../examples/chat/demo/build.ts'
import { launchBrowser } from '../kit/browser.ts'
import { webpOf } from '../kit/webp.ts'
import { startChat } from './page/app.ts'
import { submit } from './page/submit.ts'

const FOLDER = join(ROOT, 'docs/public/chat')
const DESKTOP: BrowserContextOptions = { viewport: { width: 1200, height: 750 } }
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

interface Scene {
  readonly name: string
  readonly device: BrowserContextOptions
  readonly act: (page: Page) => Promise<void>
}

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()

async function ask(page: Page, text: string): Promise<void> {
  await submit(page, text)
  await page.getByRole('article').last().getByRole('button', { name: 'Copy answer' }).waitFor()
}

/** In this order, so that later pictures have the threads of earlier ones in their list. */
const SCENES: readonly Scene[] = [
  {
    name: 'new',
    device: DESKTOP,
    act: (page) => page.getByRole('button', { name: 'Tell me a long story' }).click({ trial: true }),
  },
  {
    name: 'approval',
    device: DESKTOP,
    act: async (page) => {
      await page.getByRole('radio', { name: 'Secretary' }).check()
      await submit(page, 'Email ada@example.com that lunch is at noon')
      await page.getByRole('button', { name: 'Approve' }).waitFor()
    },
  },
  {
    name: 'subagents',
    device: DESKTOP,
    act: (page) => ask(page, 'What is 12 * (3 + 4), and what is a checkpoint?'),
  },
  {
    name: 'files',
    device: DESKTOP,
    act: async (page) => {
      await ask(page, 'Write a report about coffee')
      await ask(page, 'Draw a chart of a week of coffee')
      await press(page, /^2 files$/)
      await page.getByRole('heading', { name: 'Report: coffee' }).waitFor()
    },
  },
  {
    name: 'phone',
    device: PHONE,
    act: (page) => ask(page, 'What is 12 * (3 + 4), and what is a checkpoint?'),
  },
  {
    name: 'phone-threads',
    device: PHONE,
    act: async (page) => {
      await press(page, 'Show or hide threads')
      await press(page, /^Actions for/)
      await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
    },
  },
]

async function take(browser: Browser, origin: string, scene: Scene, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({
    ...scene.device,
    colorScheme,
    reducedMotion: 'reduce',
    deviceScaleFactor: 1.5,
  })
  const page = await context.newPage()
  await page.goto(origin)
  await scene.act(page)
  await page.mouse.move(0, 0)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  writeFileSync(join(FOLDER, `${scene.name}-${colorScheme}.webp`), await webpOf(page))
  await context.close()
}

async function main(): Promise<void> {
  await build(console.log, new AbortController().signal)
  mkdirSync(FOLDER, { recursive: true })
  const browser = await launchBrowser()
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      // A server for each, so that both have the same threads in their list.
      const { origin, program } = await startChat({ speed: 45 })
      for (const scene of SCENES) await take(browser, origin, scene, colorScheme)
      program.child.kill('SIGTERM')
      await program.exit
    }
  } finally {
    await browser.close()
  }
}

await main()
