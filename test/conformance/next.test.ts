import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapterAudits } from '../../src/audit/index.ts'
import { buildNextApp, type NextServer, nextTarget, startNextApp } from './targets/next.ts'

const slow = Boolean(process.env.SLOW || process.env.CI)

describe.runIf(slow)('next build && next start (runs with SLOW=1 or CI=1)', () => {
  let server: NextServer

  beforeAll(async () => {
    await buildNextApp()
    server = await startNextApp()
  }, 300_000)
  afterAll(async () => {
    await server?.close()
  })

  for (const { id, name, fn } of adapterAudits(nextTarget(() => server.origin))) {
    test(`${id}: ${name}`, fn)
  }

  test('the process of Next has run without stray rejections or exits', () => {
    expect(server.errors()).not.toMatch(/unhandled|MaxListeners/i)
    expect(server.exited()).toBe(false)
  })
})
