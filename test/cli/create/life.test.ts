/**
 * The life of projects of `agentwire create`, as its README tells it: created from the packed package in an empty
 * folder, installed, developed, tested, built and in production, with their pages in Chromium. Two of them, or all with
 * `TEMPLATES=all`, as every night. It asks npm's registry for packages that its cache does not have.
 */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildUnlessBuilt } from '../../../.ci/built.mjs'
import { createProvider } from '../../../examples/offline/create-provider.ts'
import { type Choices, KEYS } from '../../../src/cli/create/choices.ts'
import { executablePath, launchBrowser } from '../../kit/browser.ts'
import { freePort, openServer } from '../../kit/listen.ts'
import { hasPostgres, query, sharedPostgres } from '../../kit/postgres-server.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'
import { problemsOf } from '../../kit/site.ts'
import { root } from '../../package/package.ts'
import { runIn, serveIn } from './commands.ts'
import { buildImage } from './image.ts'
import { COVERING, nameOf } from './templates.ts'

const isEveryNight = process.env.TEMPLATES === 'all'
const MAILS = 'Mail what you know about tea to ada@example.com and bob@example.com.'
/** Another address of this machine shows that HOST is used. */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

describe.runIf(executablePath !== undefined || process.env.CI === '1')('a project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-life-'))
  let browser: Browser
  let tarball: string
  beforeAll(async () => {
    browser = await launchBrowser()
    buildUnlessBuilt()
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const [{ filename }] = JSON.parse(await runIn(root, 'npm', args))
    tarball = join(folder, filename)
    const tool = join(folder, 'tool')
    mkdirSync(tool)
    await runIn(tool, 'npm', ['install', ...QUIET, tarball])
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, REMOVE)
  })

  test.each(isEveryNight ? COVERING : COVERING.slice(0, 2))(
    'of $framework, $storage, $model, auth $auth, page $page lives',
    { timeout: 900_000 },
    async (choices) => {
      const { framework, model, page: hasPage } = choices
      const seconds: string[] = []
      let since = performance.now()
      const done = (step: string) => {
        seconds.push(`${step} ${((performance.now() - since) / 1000).toFixed(1)}`)
        since = performance.now()
      }
      const place = join(folder, nameOf(choices))
      onTestFinished(() => {
        for (const path of [place, `${place}-image`]) rmSync(path, REMOVE)
      })
      const create = [
        join(folder, 'tool/node_modules/.bin/agentwire'),
        'create',
        place,
        '--yes',
        '--no-install',
      ]
      await runIn(folder, process.execPath, [...create, ...flagsOf(choices)])
      const edit = (path: string, from: string | RegExp, to: string) => {
        const text = readFileSync(join(place, path), 'utf8')
        expect(text).toMatch(from)
        writeFileSync(join(place, path), text.replace(from, to))
      }
      edit('package.json', /"agentwire": "[^"]+"/, `"agentwire": "file:${tarball}"`)
      expect(statSync(join(place, '.env')).mode & 0o777).toBe(0o600)
      await runIn(place, 'git', ['init', '-q'])
      expect(await runIn(place, 'git', ['status', '--porcelain', '-uall'])).not.toMatch(/ \.env$/m)
      done('create')
      await runIn(place, 'npm', ['install', ...QUIET])
      done('install')

      const port = await freePort()
      edit('.env', 'PORT=3000', `PORT=${port}`)
      edit('.env', /# HOST=.*/, `HOST=${HOST}`)
      const url = await storageOf(choices)
      if (url !== undefined) edit('.env', /# ?STORAGE_URL=.*|STORAGE_URL=.*/, `STORAGE_URL=${url}`)
      const [, user] = /^AGENT_USERS=(.*)$/m.exec(readFileSync(join(place, '.env'), 'utf8')) ?? []
      const origin = `http://${HOST}:${port}`

      // A search that takes as long as the test wants.
      const search = await openGate()
      edit('tools.ts', 'run: ({ topic }) => `', 'run: async ({ topic }) => (await search()) ?? `')
      edit(
        'tools.ts',
        /$/,
        `\nconst search = async () => void (process.env.SEARCH && (await fetch(process.env.SEARCH)))\n`,
      )
      const developed = serveIn(place, 'npm', ['run', 'dev'], { SEARCH: search.url })
      onTestFinished(() => developed.stop('SIGKILL'))
      await untilServed(origin, developed)
      if (framework !== 'next') {
        expect(await developed.output(/devtools http\S+\n/)).toContain('agents   assistant\n')
        expect(developed.text()).toContain('clients see the text of an agent’s error')
      }
      expect(await statusOf(`${origin}/agents/ok`)).toBe(200)
      expect(await statusOf(`${origin}/agents/threads`, { method: 'POST', body: '{}' })).toBe(
        user ? 401 : 200,
      )
      expect(await statusOf(`${origin}/agents/devtools`, { headers: headersOf(user) })).toBe(200)
      done('dev')

      let thread: string | undefined
      const opened = hasPage ? await openPage(browser, user) : undefined
      if (opened) {
        const { page, problems } = opened
        await page.goto(origin)
        await say(page, 'Hello <img src="x" onerror="alert(1)"> there')
        await page.locator('article.ai strong', { hasText: 'script' }).waitFor()
        expect(await page.locator('article.ai').innerText()).toContain('<img src="x"')
        await page.getByRole('button', { name: 'New chat' }).click()
        done('ask')
        await say(page, MAILS)
        await search.asked
        await page.getByText('Let me see.').waitFor()
        await page.reload()
        await page.getByText('Let me see.').waitFor()
        await page.getByRole('button', { name: 'Stop' }).waitFor()
        search.open()
        const requests = page.locator('section')
        await requests.nth(1).waitFor()
        done('reload')
        await requests.nth(0).getByRole('button', { name: 'Approve' }).click()
        await requests.nth(1).getByRole('button', { name: 'Reject' }).click()
        await page.locator('article.ai li', { hasText: 'Sent to ada@example.com.' }).waitFor()
        expect(await page.getByText('Sent to bob@example.com.').count()).toBe(0)
        thread = page.url()
        await page.reload()
        await page.locator('article.ai li', { hasText: 'Sent to ada@example.com.' }).waitFor()
        expect(problems).toEqual([])
        await page.close()
      } else {
        search.open()
        expect(await statusOf(origin, { headers: headersOf(user) })).toBe(200)
        expect(await talk(origin, user, MAILS, ['approve', 'reject'])).toContain('- Sent to ada@example.com.')
      }
      done('approve')

      edit('offline.ts', 'I am a **script**', 'I am an *edited* **script**')
      await expect
        .poll(() => talk(origin, user, 'Hello').catch(String), { interval: 500 })
        .toContain('*edited*')
      await developed.stop()
      done('edit')

      const inherited = Object.fromEntries([KEYS[model] ?? 'NO_KEY'].map((key) => [key, 'of this machine']))
      expect(await runIn(place, 'npm', ['test'], inherited)).toMatch(/[#ℹ] fail 0/)
      done('test')
      // The build of Next.js checks the types of all files.
      if (framework !== 'next') await runIn(place, 'npm', ['run', 'types'])
      done('types')
      await runIn(place, 'npm', ['run', 'build'])
      done('build')
      const provider = await openProvider(model)
      // The environment comes before `.env`.
      const other = await freePort()
      const produced = serveIn(place, 'npm', ['start'], { PORT: String(other), ...provider })
      onTestFinished(() => produced.stop('SIGKILL'))
      await inProduction(`http://${HOST}:${other}`, produced)
      await produced.stop()
      done('start')
      if (isEveryNight) {
        const image = await buildImage(place, `${place}-image`)
        done('image')
        const [command, ...args] = image.command
        const own = await freePort()
        const secrets = {
          ...(user && { AGENT_USERS: user }),
          ...(image.env.STORAGE_URL ? {} : url && { STORAGE_URL: url }),
        }
        const env = { ...image.env, ...secrets, PORT: String(own), ...provider }
        const run = serveIn(image.folder, command!, args, env)
        onTestFinished(() => run.stop('SIGKILL'))
        await inProduction(`http://127.0.0.1:${own}`, run, false)
        await run.stop()
        // Next.js ends with the number of the signal.
        expect(run.child.exitCode).toBe(framework === 'next' ? 143 : 0)
        done('container')
      }
      console.log(`${nameOf(choices)}: ${seconds.join(', ')}`)

      async function inProduction(at: string, server: Served, hasThreads = true) {
        await untilServed(at, server)
        expect(await statusOf(`${at}/agents/ok`)).toBe(200)
        expect(await statusOf(`${at}/agents/devtools/api/threads`, { headers: headersOf(user) })).toBe(404)
        expect(await statusOf(`${at}/agents/threads`, { method: 'POST', body: '{}' })).toBe(user ? 401 : 200)
        const answer = provider ? 'I found nothing else.' : 'edited'
        expect(await talk(at, user, 'Hello')).toContain(answer)
        if (!hasPage) return
        const { page, problems } = await openPage(browser, user)
        await page.goto(at)
        await say(page, 'Hello')
        await page.locator('article.ai', { hasText: answer }).waitFor()
        if (thread !== undefined && hasThreads && choices.storage !== 'memory') {
          await page.goto(at + new URL(thread).search)
          await page.locator('article.ai li', { hasText: 'Sent to ada@example.com.' }).waitFor()
        }
        expect(problems).toEqual([])
        await page.close()
      }
    },
  )
})

/** A process that was just stopped may still be writing. */
const REMOVE = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }

type Served = ReturnType<typeof serveIn>

const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

const flagsOf = ({ auth, page, ...named }: Choices): readonly string[] => [
  ...Object.entries(named).flatMap(([name, value]) => [`--${name}`, value]),
  auth ? '--auth' : '--no-auth',
  page ? '--page' : '--no-page',
]

/** A database of its own. SQLite has its default. */
async function storageOf(choices: Choices): Promise<string | undefined> {
  if (choices.storage === 'postgres' && hasPostgres()) {
    const url = new URL(await sharedPostgres())
    const name = `life_${nameOf(choices).replaceAll('-', '_')}_${process.pid}`
    await query(url.href, `create database ${name}`)
    url.pathname = `/${name}`
    return url.href
  }
  if (choices.storage === 'redis' && hasRedis()) {
    const redis = await startRedis()
    onTestFinished(() => redis.remove())
    return redis.url
  }
  return undefined
}

/** The environment with a key and a provider, which answers from the script of the examples. */
async function openProvider(model: Choices['model']): Promise<NodeJS.ProcessEnv | undefined> {
  if (model === 'scripted') return undefined
  const { origin, close } = await openServer(createProvider())
  onTestFinished(close)
  const name = KEYS[model]!.replace('_API_KEY', '')
  return { [KEYS[model]!]: 'none', [`${name}_BASE_URL`]: model === 'anthropic' ? origin : `${origin}/v1` }
}

/** An address that answers once it is opened. */
async function openGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const server = createServer((_, response) => void opened.then(() => response.end()))
  const asked = once(server, 'request')
  const { origin, close } = await openServer(server)
  onTestFinished(async () => {
    open()
    await close()
  })
  return { url: origin, asked, open }
}

const headersOf = (user: string | undefined): Record<string, string> =>
  user === undefined ? {} : { authorization: `Basic ${btoa(user)}` }

const statusOf = async (url: string, init: RequestInit = {}): Promise<number> =>
  (await fetch(url, init)).status

async function untilServed(origin: string, { child, text }: Served): Promise<void> {
  const isServed = async () => {
    if (child.exitCode !== null) throw new Error(`It ended:\n${text()}`)
    return fetch(`${origin}/agents/ok`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  await expect.poll(isServed, { interval: 200, message: text() }).toBe(true)
}

async function openPage(browser: Browser, user: string | undefined) {
  const [username = '', password = ''] = user?.split(':') ?? []
  const page = await browser.newPage(user === undefined ? {} : { httpCredentials: { username, password } })
  // A busy machine compiles for minutes.
  page.setDefaultTimeout(240_000)
  onTestFinished(() => page.close())
  return { page, problems: problemsOf(page) }
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

/** What the assistant answers in the end, and its question's answer before that. */
async function talk(
  origin: string,
  user: string | undefined,
  content: string,
  decisions: readonly string[] = [],
): Promise<string> {
  const client = new Client({
    apiUrl: `${origin}/agents`,
    defaultHeaders: headersOf(user),
    callerOptions: { maxRetries: 0 },
  })
  const { thread_id } = await client.threads.create()
  const input = { messages: [{ role: 'user', content }] }
  await client.runs.wait(thread_id, 'assistant', { input })
  if (decisions.length > 0) {
    const resume = { decisions: decisions.map((type) => ({ type })) }
    await client.runs.wait(thread_id, 'assistant', { command: { resume } })
  }
  const { values } = await client.threads.getState<{ messages: { content: unknown }[] }>(thread_id)
  const { content: said } = values.messages.at(-1)!
  return typeof said === 'string'
    ? said
    : (said as { text?: string }[]).map(({ text }) => text ?? '').join('')
}
