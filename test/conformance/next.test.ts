import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapterAudits } from '../../src/audit/index.ts'
import { driveClients } from '../a2a/clients/drive.ts'
import { threadClient } from '../kit/client.ts'
import { buildNextApp, type NextServer, nextTarget, startNextApp } from './targets/next.ts'

const slow = Boolean(process.env.SLOW || process.env.CI)

describe.runIf(slow)('next build && next start (runs with SLOW=1 or CI=1)', () => {
  let server: NextServer

  beforeAll(async () => {
    await buildNextApp()
    server = await startNextApp()
  })
  afterAll(async () => {
    await server?.close()
  })

  for (const { id, name, fn } of adapterAudits(nextTarget(() => server.origin))) {
    test(`${id}: ${name}`, fn)
  }

  test('a function and a graph that asks run in the bundle of Turbopack', async () => {
    const base = `${server.origin}/runs`
    const greeted = threadClient(base, 'greeted', {})
    await greeted.start({ messages: [] }, { assistant_id: 'greeter' })
    await greeted.transcript()
    expect((await greeted.get('/state')).body.values.messages.at(-1).content).toBe('hi')
    const asked = threadClient(base, 'asked', {})
    await asked.start({ messages: [] }, { assistant_id: 'graph' })
    await asked.transcript()
    const [{ interrupts }] = (await asked.get('/state')).body.tasks
    await asked.ok('input.respond', { interrupt_id: interrupts[0].id, response: 'yes' })
    await asked.transcript(2)
    expect((await asked.get('/state')).body.values.messages.at(-1).content).toBe('yes')
  })

  describe('published clients of A2A', () =>
    driveClients(() => ({ origin: server.origin, mount: '/others' })))

  test('the process of Next has run without stray rejections or exits', () => {
    expect(server.errors()).not.toMatch(/unhandled|MaxListeners/i)
    expect(server.exited()).toBe(false)
  })
})
