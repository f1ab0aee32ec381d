import { expect, test } from 'vitest'
import { request } from '../kit/client.ts'
import type { Json } from '../kit/events.ts'
import { eventually } from '../kit/wait.ts'
import { backends, inScene, LEASE_MS } from './scene.ts'

test.each(backends)(
  'over $name, a thread whose process was killed while a tool ran takes the next message',
  {
    timeout: 120_000 + 10 * LEASE_MS,
  },
  async (backend) => {
    await inScene(backend, async (scene) => {
      const threads = { worker: scene.thread(), deadly: scene.thread() }
      const say = (
        { origin }: { readonly origin: string },
        assistantId: keyof typeof threads,
        text: string,
      ) =>
        request(origin, 'POST', `/threads/${threads[assistantId]}/runs`, {
          assistant_id: assistantId,
          input: { messages: [{ role: 'user', content: text }] },
          if_not_exists: 'create',
        })
      const messagesOf = async ({ origin }: { readonly origin: string }, threadId: string) => {
        const { body } = await request(origin, 'GET', `/threads/${threadId}/state`)
        return (body.values?.messages ?? []) as readonly Json[]
      }
      const victims = await Promise.all([scene.start(), scene.start(), scene.start()])
      const [first] = victims
      await say(first!, 'worker', 'go')
      await eventually(async () => (await messagesOf(first!, threads.worker)).length === 2)
      // The tool of the graph may end its process before the response is sent.
      await say(first!, 'deadly', 'go').catch(() => {})
      await Promise.all(victims.map(({ exited }) => exited))
      const survivor = await scene.start()
      for (const assistantId of ['worker', 'deadly'] as const) {
        const threadId = threads[assistantId]
        const { origin } = survivor
        await eventually(
          async () => (await request(origin, 'GET', `/threads/${threadId}`)).body.status === 'error',
        )
        await say(survivor, assistantId, 'and now?')
        await eventually(
          async () => (await request(origin, 'GET', `/threads/${threadId}`)).body.status === 'idle',
        )
        const messages = await messagesOf(survivor, threadId)
        expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'human', 'ai'])
        expect(messages[2]).toMatchObject({ status: 'error', tool_call_id: messages[1]!.tool_calls[0].id })
        expect(messages[4]!.content).toBe('Alive.')
      }
    })
  },
)
