/** docs/next.md, as a reader pastes it: its files are an app of Next, which is used in Chromium. */
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { read } from '../docs/fences.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { ORIGIN, type Program, startProgram } from '../kit/program.ts'
import { problemsOf } from '../kit/site.ts'
import { root } from './package.ts'

/** Its files by their names, without those of the section about other protocols. */
const [guide = ''] = read('docs/next.md').split('\n## ')
const blocks = [...guide.matchAll(/`([\w./[\]-]+\.tsx?)`:\n\n<!--[^\n]*-->\n```tsx?\n(.*?)^```$/gms)]
const FILES = Object.fromEntries(blocks.map(([, path, code]) => [path!, code!]))

describe.runIf(executablePath !== undefined || process.env.CI === '1')('docs/next.md', () => {
  const folder = join(root, '.tmp', `next-guide-${process.pid}`)
  let browser: Browser
  let next: Program

  beforeAll(async () => {
    const isLinked = realpathSync(join(root, 'node_modules')) !== join(realpathSync(root), 'node_modules')
    const all = {
      ...FILES,
      'next.config.mjs': `export default ${JSON.stringify({ turbopack: { root: isLinked ? '/' : root } })}`,
      // What create-next-app has, too.
      'app/layout.tsx':
        'export default ({ children }: { children: React.ReactNode }) => <html lang="en"><body>{children}</body></html>',
      'package.json': '{ "type": "module" }',
    }
    for (const [path, code] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), code)
    }
    const cli = createRequire(import.meta.url).resolve('next/dist/bin/next')
    const { NODE_ENV: _, ...env } = process.env
    const args = [cli, 'dev', '-p', '0', '-H', '127.0.0.1']
    next = startProgram('node', args, { ...env, NEXT_TELEMETRY_DISABLED: '1' } as NodeJS.ProcessEnv, folder)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    next.child.kill()
    await next.exit
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })

  test('the page chats with the route, also after a reload, and the terminal says what is served', async () => {
    expect(Object.keys(FILES)).toEqual(['lib/agents.ts', 'app/agents/[[...path]]/route.ts', 'app/page.tsx'])
    const [origin] = ORIGIN.exec(await next.output(ORIGIN))!
    const page = await browser.newPage()
    page.setDefaultTimeout(200_000)
    const problems = problemsOf(page)
    await page.goto(origin)
    const send = async (text: string, answers: number) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await expect.poll(() => page.getByText('ai: Hello there').count()).toBe(answers)
    }
    await send('Good morning', 1)
    await page.reload()
    await page.getByText('human: Good morning').waitFor()
    await send('Good evening', 2)
    await next.output(/agentwire serves http:\/\/127\.0\.0\.1:\d+\/agents\n {2}agents {3}agent\n/)
    expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
  })
})
