/** Bodies that `express.json()` before the mount refuses: the client gets the protocol's own error, not a page. */
import { createServer, type RequestListener } from 'node:http'
import express from 'express'
import express4 from 'express4'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { openServer } from '../kit/listen.ts'

const agent = defineAgent({ run: async ({ message }) => void (await message('hello')) })
const big = 'a'.repeat(150_000)

describe.each([
  ['express 4', express4 as unknown as typeof express],
  ['express 5', express],
])('%s', (_, create) => {
  async function mounted() {
    const server = createAgentServer({ agents: { agent }, faces: [openAi()] })
    const app = create()
    app.use(express.json())
    app.post('/orders', (_req: unknown, res: { json(value: object): void }) => res.json({}))
    app.use((req: { user?: string }, _res: unknown, next: (error?: unknown) => void) => {
      req.user = 'ada'
      next(new URL((req as { url: string }).url, 'http://a').pathname === '/agents/fails' && new Error('own'))
    })
    // The middleware above does not run after a body that was refused.
    const principal = (req: { user?: string }) => ({ id: req.user!.toUpperCase() })
    app.use('/agents', toExpress(server, { principal: principal as never, onError() {} }))
    app.use(
      (
        error: Error,
        _req: unknown,
        res: { status(code: number): { send(text: string): void } },
        _next: unknown,
      ) => res.status((error as { status?: number }).status ?? 500).send(`the app: ${error.message}`),
    )
    const { origin, close } = await openServer(createServer(app as RequestListener))
    onTestFinished(close)
    return async (path: string, body: string) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(origin + path, { method: 'POST', headers, body })
      const text = await response.text()
      return { status: response.status, text, json: () => JSON.parse(text) }
    }
  }

  test('a body above its limit is 413 in the protocol, with the name of the limit', async () => {
    const post = await mounted()
    const command = {
      id: 1,
      method: 'run.start',
      params: { input: { messages: [{ type: 'human', content: big }] } },
    }
    const native = await post('/agents/threads/one/commands', JSON.stringify(command))
    expect(native.status).toBe(413)
    expect(native.text).toContain('102400 bytes')
    expect(native.text).toContain('express.json(')
    expect(native.json()).toMatchObject({ error: 'payload_too_large' })
    const openai = await post('/agents/v1/responses', JSON.stringify({ model: 'agent', input: big }))
    expect([openai.status, openai.json().error.message]).toEqual([
      413,
      expect.stringContaining('102400 bytes'),
    ])
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: big } }
    const a2a = await post('/agents/a2a/agent', JSON.stringify(rpc))
    expect([a2a.status, a2a.json().message]).toEqual([413, expect.stringContaining('102400 bytes')])
  })

  test('a body that is no JSON is told by the protocol, and the app keeps its own errors', async () => {
    const post = await mounted()
    const broken = await post('/agents/threads/one/commands', '{"a":')
    expect([broken.status, broken.json().error]).toEqual([400, 'invalid_json'])
    expect((await post('/orders', '{"a":')).text).toMatch(/^the app: /)
    expect(await post('/agents/unknown', JSON.stringify({ big }))).toMatchObject({
      status: 413,
      text: expect.stringMatching(/^the app: /),
    })
    expect(await post('/agents/fails', '{}')).toMatchObject({ status: 500, text: 'the app: own' })
  })
})
