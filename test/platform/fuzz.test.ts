import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlatformGroup } from '../../src/faces/rest/face.ts'
import type { WebHandler } from '../../src/index.ts'
import { engineOf } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { runs } from '../kit/runs.ts'
import { turns } from '../kit/wait.ts'
import { idle, serve } from '../threads/local.ts'
import { KNOWN, requestOf } from './requests.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

async function send(server: WebHandler, { method, path, query = '', headers, body }: Sent) {
  const request = new Request(`http://127.0.0.1${path}?${query}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method !== 'GET' && body !== undefined && { body }),
  })
  const response = await server.fetch(request)
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body!.cancel()
    return { status: response.status, body: undefined }
  }
  const text = (await response.text()).trim()
  const isText = response.headers.get('content-type')?.startsWith('text/plain')
  return { status: response.status, body: text === '' ? undefined : isText ? text : JSON.parse(text) }
}

const post = (server: WebHandler, path: string, body: unknown) =>
  send(server, { method: 'POST', path, body: JSON.stringify(body) })

/** Settles when nothing is written any more. Runs that would begin later are cancelled. */
async function settle(server: WebHandler, written: () => number): Promise<void> {
  for (let before = -1; before !== written(); ) {
    before = written()
    await post(server, '/runs/cancel', { status: 'all' })
    await idle(server)
    await turns()
  }
}

test('any request is answered, never with a 5xx, and a refused request changes no state', async () => {
  const routes = await createPlatformGroup({ engine: engineOf({ a: puppet().agent }) }).routes()
  const anything = fc.oneof(...routes.map(([method, pattern]) => requestOf(method, pattern)))
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 8 }), async (requests) => {
      const { server, errors, written } = serve()
      const create = (threadId: string, assistant_id: string) =>
        post(server, `/threads/${threadId}/runs/wait`, { assistant_id, input: {}, if_not_exists: 'create' })
      // The server writes down since when it has each agent, where that is first asked.
      await post(server, '/assistants/search', {})
      await create('t', 'chat')
      await create('waits', 'ask')
      const [{ run_id }] = (await send(server, { method: 'GET', path: '/threads/waits/runs' })).body
      const schedule = '0 0 29 2 *'
      const { cron_id } = (await post(server, '/runs/crons', { assistant_id: 'chat', schedule })).body
      const known = (text: string) => text.replaceAll(KNOWN.run, run_id).replaceAll(KNOWN.cron, cron_id)
      for (const asked of requests) {
        const sent = {
          ...asked,
          path: known(asked.path),
          body: typeof asked.body === 'string' ? known(asked.body) : asked.body,
        }
        await settle(server, written)
        const before = written()
        // Who waits for a run that begins much later is answered once it is cancelled.
        const impatience = setInterval(() => void post(server, '/runs/cancel', { status: 'all' }), 200)
        const { status, body } = await send(server, sent).finally(() => clearInterval(impatience))
        expect([sent, status < 500]).toEqual([sent, true])
        if (status < 400) continue
        expect([sent, written()]).toEqual([sent, before])
        // Who takes text and no JSON gets the bare sentence.
        if (sent.headers?.accept === 'text/plain') expect(body).toEqual(expect.any(String))
        else
          expect(body).toMatchObject({
            error: expect.stringMatching(/^[a-z_]+$/),
            message: expect.any(String),
          })
        expect(JSON.stringify(body)).not.toMatch(/\bat .*:\d+:\d+|node_modules|unknown_error|internal_error/)
      }
      await settle(server, written)
      expect(errors).toEqual([])
      expect((await create('fresh', 'chat')).status).toBe(200)
      await server.close()
    }),
    { numRuns: runs(80) },
  )
})
