/** The pages about React, as a reader pastes them: the server of a page runs, and its component is used in Chromium. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { freePort } from '../kit/listen.ts'
import { programs, typescript } from '../kit/program.ts'
import { bundlePage, openScriptPage, problemsOf } from '../kit/site.ts'
import { root } from '../package/package.ts'
import { read } from './fences.ts'

/** Below docs, whose packages the blocks may import. */
const folder = `docs/.tmp/in-browser-${process.pid}`

/** The block that a page saves under this name. */
function blockOf(page: string, file: string): string {
  const above = `\`${file}\``
  const text = read(page)
  for (const [, said, code] of text.matchAll(
    /^([^\n`]*(?:`[^\n`]*`[^\n`]*)+:)\n\n(?:<!--[^\n]*-->\n)?```tsx?\n(.*?)^```$/gms,
  ))
    if (said!.includes(above)) return code!
  throw new Error(`${page} has no block for ${file}.`)
}

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the pages in a browser', () => {
  const start = programs()
  let browser: Browser
  beforeAll(async () => {
    mkdirSync(join(root, folder), { recursive: true })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(join(root, folder), { recursive: true, force: true })
  })

  interface Pasted {
    /** The page, and the name under which it saves the block. */
    readonly server: readonly [page: string, file: string]
    readonly component: readonly [page: string, file: string, name: string]
  }

  async function open({ server, component: [page, file, name] }: Pasted): Promise<Page> {
    const port = await freePort()
    const withPort = (code: string): string => code.replaceAll('3000', `${port}`)
    const path = `${folder}/${port}.mts`
    writeFileSync(join(root, path), withPort(blockOf(...server)))
    await start('node', typescript(path)).output(/listens on/)
    writeFileSync(join(root, folder, file), withPort(blockOf(page, file)))
    const contents = `import { createRoot } from 'react-dom/client'
      import { ${name} } from './${file}'
      createRoot(document.body.appendChild(document.createElement('div'))).render(<${name} />)`
    const stdin = { contents, resolveDir: join(root, folder), loader: 'tsx' } as const
    const site = await openScriptPage(await bundlePage({ stdin }))
    const opened = await browser.newPage()
    opened.setDefaultTimeout(60_000)
    const problems = problemsOf(opened)
    onTestFinished(async () => {
      await opened.close()
      await site.close()
      // The SDK reads the state of a thread before its first message is there.
      expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
    })
    await opened.goto(site.origin)
    return opened
  }

  const QUICK_START = ['docs/quick-start.md', 'server.mjs'] as const

  test.each([
    ['docs/react.md', 'Chat'],
    ['docs/react-hooks.md', 'App'],
  ])('%s chats with the server of the quick start, also after a reload', async (path, name) => {
    const page = await open({ server: QUICK_START, component: [path, 'chat.tsx', name] })
    const send = async (text: string, answers: number) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await expect.poll(() => page.getByText('ai: Hello there').count()).toBe(answers)
      await page.getByRole('button', { name: 'Send' }).waitFor()
    }
    await send('Good morning', 1)
    await page.reload()
    await page.getByText('human: Good morning').waitFor()
    await send('Good evening', 2)
  })

  test('docs/approvals.md asks, still asks after a reload, and goes on with the answer', async () => {
    const page = await open({
      server: ['docs/approvals.md', 'server.ts'],
      component: ['docs/approvals.md', 'chat.tsx', 'Chat'],
    })
    await page.getByRole('button', { name: 'Mail Ada' }).click()
    await page.getByText('Send the mail?').waitFor()
    await page.reload()
    await page.getByText('Send the mail?').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('tool: Sent to ada@example.org.').waitFor()
    await expect.poll(() => page.getByText('Send the mail?').count()).toBe(0)
    await page.reload()
    await page.getByText('tool: Sent to ada@example.org.').waitFor()
    await page.getByRole('button', { name: 'Mail Ada' }).click()
    await page.getByText('Send the mail?').waitFor()
    await page.getByRole('button', { name: 'Reject' }).click()
    await expect.poll(() => page.getByText('Send the mail?').count()).toBe(0)
    expect(await page.getByText('tool: Sent').count()).toBe(1)
  })
})
