import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../kit/runs.ts'
import { idle, serve } from '../threads/local.ts'
import { ask, eventsOf, post, request, V1_MESSAGE } from './fake-operations.ts'
import { broken, call } from './requests.ts'

/** The answer, or the first event of a stream, which the client then leaves: that of a task that waits for input stays open. */
async function firstOf(answer: Response) {
  if (answer.headers.get('content-type') === 'application/json') return answer.json()
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (eventsOf(text).length === 0) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended with ${JSON.stringify(text)}.`)
    text += value
  }
  await reader.cancel()
  return eventsOf(text)[0]!.data
}

test('a whole server answers any request by JSON-RPC, and a refused one changes no state', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: call }, { weight: 1, arbitrary: broken }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.constantFrom('chat', 'ask'),
      async (requests, assistant) => {
        const { server, errors, written } = serve()
        // The graph that asks has no messages, and takes data only.
        const message = { ...V1_MESSAGE, parts: assistant === 'ask' ? [{ data: {} }] : V1_MESSAGE.parts }
        const begun = request('SendMessage', { message: { ...message, contextId: 'c' } })
        const { task } = (await post(server, begun, { assistant })).body.result
        for (const { body, headers } of requests) {
          await idle(server)
          const before = written()
          const own = body
            .replaceAll('"t1"', JSON.stringify(task.id))
            .replaceAll('"t"', JSON.stringify(task.id))
          const answer = await ask(server, own, { headers, assistant })
          expect([own, answer.status < 500]).toEqual([own, true])
          const last = await firstOf(answer)
          expect('result' in last !== 'error' in last).toBe(true)
          if ('result' in last) continue
          expect([own, last.error.code === -32603]).toEqual([own, false])
          expect(written()).toBe(before)
        }
        await idle(server)
        expect(errors).toEqual([])
        const fresh = { ...message, messageId: crypto.randomUUID() }
        const again = await post(server, request('SendMessage', { message: fresh }), { assistant })
        expect(again.body.result.task.status.state).toMatch(/^TASK_STATE_(COMPLETED|INPUT_REQUIRED)$/)
        await server.close()
      },
    ),
    { numRuns: runs(80) },
  )
})
