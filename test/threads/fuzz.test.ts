import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../kit/runs.ts'
import { anything } from './arbitraries.ts'
import { idle, send, serve } from './local.ts'

test('any request is answered by the protocol, never with a 5xx, and a refused request changes no state', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 8 }), async (requests) => {
      const { server, errors, written } = serve()
      for (const [threadId, assistant_id] of [
        ['t', 'chat'],
        ['waits', 'ask'],
      ]) {
        const body = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id, input: {} } })
        await send(server, { method: 'POST', path: `/threads/${threadId}/commands`, body })
      }
      for (const sent of requests) {
        await idle(server)
        const before = written()
        const { status, body } = await send(server, sent)
        expect([sent, status < 500]).toEqual([sent, true])
        const refused = status >= 400 || body?.type === 'error'
        if (!refused) continue
        expect(written()).toBe(before)
        if (sent.method === 'HEAD') continue
        expect(body).toMatchObject({ error: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) })
        expect(JSON.stringify(body)).not.toMatch(/\bat .*:\d+:\d+|node_modules|unknown_error|internal_error/)
      }
      await idle(server)
      expect(errors).toEqual([])
      const again = JSON.stringify({
        id: 1,
        method: 'run.start',
        params: { assistant_id: 'chat', input: { messages: [] } },
      })
      expect(
        (await send(server, { method: 'POST', path: '/threads/fresh/commands', body: again })).body.type,
      ).toBe('success')
      await server.close()
    }),
    { numRuns: runs(80) },
  )
})
