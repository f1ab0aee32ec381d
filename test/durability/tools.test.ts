import { expect, test } from 'vitest'
import { request } from '../kit/client.ts'
import type { Json } from '../kit/events.ts'
import { eventually } from '../kit/wait.ts'
import { backends, inScene, LEASE_MS } from './scene.ts'

test.each(backends)(
  'over $name, an agent that is killed in a tool is taken over, and no tool that had finished runs again',
  { timeout: 120_000 + 10 * LEASE_MS },
  async (backend) => {
    await inScene(backend, async (scene) => {
      const threadId = scene.thread()
      const [victim, survivor] = await Promise.all([scene.start(), scene.start()])
      // The process may end before the response is sent.
      await request(victim.origin, 'POST', `/threads/${threadId}/runs`, {
        assistant_id: 'handy',
        input: { messages: [{ role: 'user', content: 'go' }] },
        if_not_exists: 'create',
      }).catch(() => {})
      await victim.exited
      const read = async (path: string) => (await request(survivor.origin, 'GET', path)).body
      await eventually(async () => (await read(`/threads/${threadId}`)).status === 'idle')
      const { values } = await read(`/threads/${threadId}/state`)
      const messages: readonly Json[] = values.messages
      expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai', 'tool', 'ai'])
      const [, , noted, , worked, last] = messages
      expect(worked?.content).toMatch(/^Taken over by \d+$/)
      expect(worked?.content).not.toContain(noted?.content)
      expect(last?.content).toBe('Done.')
    })
  },
)
