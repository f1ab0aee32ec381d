import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../kit/backends.ts'
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
import { startRoundRobin } from './round-robin.ts'

const START = 'Once there was a stream'
const END = 'it is still being written'

describe.runIf(hasBrowser)('a server that is away', () => {
  const { open, allowLostRequests } = chatPages()

  test('is told in words, and when it is back the answer goes on, with nothing lost or twice', async () => {
    // Slow enough that the run is not over before the server is away.
    const app = await startChat({ speed: 60 })
    onTestFinished(async () => {
      app.program.child.kill('SIGTERM')
      await app.program.exit
    })
    const line = await startRoundRobin([app.port])
    allowLostRequests()
    const page = await open('/', { origin: line.origin })
    await send(page, 'Tell me a long story')
    await grows(page)
    await line.close()
    const alert = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' })
    await alert.waitFor()
    // The code of this dialog is not there yet.
    await button(page, 'Keys').click()
    const back = await startRoundRobin([app.port], line.port)
    onTestFinished(back.close)
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.waitFor()
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    await lastTurn(page).getByText(END).waitFor()
    await answered(page)
    await alert.waitFor({ state: 'detached' })
    const seen = await textOf(page)
    expect(seen.split(START)).toHaveLength(2)
    const fresh = await open(new URL(page.url()).pathname, { origin: app.origin })
    await answered(fresh)
    await expect.poll(() => textOf(fresh)).toBe(seen)
  })
})

describe.runIf(hasBrowser && postgres.installed())(
  'two instances over Postgres behind a round-robin proxy',
  () => {
    const { open, allowLostRequests } = chatPages()

    test('are killed one at a time during a chat, and the user sees each answer once and whole', async () => {
      const database = await postgres.create()
      const start = (port?: number) =>
        startChat({ speed: 60, storageUrl: database.url, ...(port !== undefined && { port }) })
      const apps: ChatApp[] = await Promise.all([start(), start()])
      const proxy = await startRoundRobin(apps.map(({ port }) => port))
      onTestFinished(async () => {
        await proxy.close()
        for (const { program } of apps) program.child.kill('SIGKILL')
        await Promise.all(apps.map(({ program }) => program.exit))
        await database.remove()
      })
      allowLostRequests()
      const page = await open('/', { origin: proxy.origin })
      await send(page, 'Tell me a long story')
      await page.waitForURL(/\/t\//)
      for (const at of [0, 1]) {
        await grows(page)
        const { program, port } = apps[at]!
        program.child.kill('SIGKILL')
        await program.exit
        // Requests go to the other instance meanwhile.
        await pause(500)
        apps[at] = await start(port)
      }
      await lastTurn(page).getByText(END).waitFor({ timeout: 240_000 })
      await answered(page)
      expect(await turns(page).count()).toBe(1)
      const seen = await textOf(page)
      expect(seen.split(START)).toHaveLength(2)
      expect(seen.match(/Chapter \d/g)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `Chapter ${n}`))
      await ask(page, '1 + 1')
      expect(await wordsOf(conversation(page))).toContain('1 + 1 = 2.')
      const fresh = await open(new URL(page.url()).pathname, { origin: proxy.origin })
      await answered(fresh)
      await expect.poll(() => textOf(fresh)).toBe(await textOf(page))
      expect(await composer(fresh).isEnabled()).toBe(true)
    })
  },
)
