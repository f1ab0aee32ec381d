import { expect, onTestFinished, test } from 'vitest'
import { createAgentServer, defineAgent, type HandlerContext } from '../../src/index.ts'
import { eventually } from '../kit/wait.ts'
import { heldBytes } from '../storage/gc.ts'

const PATH = 'http://127.0.0.1/threads/0f6a1c3e-8a55-4a3c-9f43-0f2a8f0f7c11/stream/events'

/** An open stream whose request nobody holds here. */
async function openStream(init: RequestInit, context?: HandlerContext) {
  const server = createAgentServer({ agents: { agent: defineAgent({ run: async () => {} }) } })
  onTestFinished(() => server.close())
  const body = JSON.stringify({ channels: ['lifecycle'] })
  const headers = { 'content-type': 'application/json' }
  const request = new Request(PATH, { method: 'POST', headers, body, ...init })
  const kept = new WeakRef(request)
  const response = await server.fetch(request, context)
  const reader = response.body!.getReader()
  await reader.read()
  return { kept, next: reader.read() }
}

test('a stream does not keep its request in memory', async () => {
  const client = new AbortController()
  const { kept, next } = await openStream({}, { signal: client.signal })
  await eventually(() => {
    heldBytes()
    return kept.deref() === undefined
  })
  client.abort(new Error('The client is gone.'))
  await expect(next).rejects.toThrow('The client is gone.')
})

test("a stream hears of its request's own signal, however long it takes", async () => {
  const client = new AbortController()
  const { next } = await openStream({ signal: client.signal })
  for (let i = 0; i < 5; i++) {
    heldBytes()
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.abort(new Error('The client is gone.'))
  await expect(next).rejects.toThrow('The client is gone.')
})
