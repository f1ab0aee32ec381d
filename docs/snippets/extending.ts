import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAgentServer, type WebHandler } from 'agentwire'
import { agents } from './kit/agents.ts'

let audited = 0

// #region store
import { memoryStore, type Store } from 'agentwire'
import { storeAudits } from 'agentwire/audit'

/** A store that counts what is written, over another one. */
function countingStore(store: Store, count: () => void): Store {
  return {
    ...store,
    commit(...request) {
      count()
      return store.commit(...request)
    },
  }
}

for (const { name, fn } of storeAudits({ create: () => countingStore(memoryStore(), () => {}) }))
  await test(name, fn)
// #endregion

// #region format
import { type Format, generic } from 'agentwire/formats'

interface Reply {
  readonly reply: string
  readonly tokens?: { readonly in: number; readonly out: number }
}

const toMessage = ({ reply, tokens }: Reply) => ({
  role: 'assistant',
  content: reply,
  usage_metadata: tokens && { input_tokens: tokens.in, output_tokens: tokens.out },
})

export const ours: Format = {
  ...generic,
  name: 'ours',
  provider: 'our-company',
  detect: (value) =>
    typeof value === 'object' && value !== null && 'reply' in value ? 'response' : undefined,
  readResponse: (response) => generic.readResponse(toMessage(response as Reply)),
  readStream() {
    const reader = generic.readStream()
    return { push: (chunk) => reader.push(toMessage(chunk as Reply)), end: reader.end }
  },
}
// #endregion

// #region adapter
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

/** The least that an adapter does: a Web request in, a Web response out, and an end to it when the client leaves. */
function toTiny(handler: WebHandler) {
  return createServer(async (req, res) => {
    const left = new AbortController()
    res.once('close', () => left.abort())
    const request = new Request(new URL(req.url ?? '/', 'http://localhost'), {
      method: req.method,
      headers: req.headers as Record<string, string>,
      signal: left.signal,
      ...(req.method === 'GET' || req.method === 'HEAD'
        ? {}
        : { body: Readable.toWeb(req) as BodyInit, duplex: 'half' }),
    } as RequestInit)
    const { status, headers, body } = await handler.fetch(request)
    res.writeHead(status, Object.fromEntries(headers))
    if (body) Readable.fromWeb(body as ReadableStream).pipe(res)
    else res.end()
  })
}
// #endregion

async function test(_name: string, audit: () => void | Promise<void>): Promise<void> {
  await audit()
  audited++
}
assert.ok(audited > 20)

const { messages } = ours.readResponse({ reply: 'Hi', tokens: { in: 1, out: 2 } })
assert.deepEqual(messages[0]?.content, [{ type: 'text', text: 'Hi' }])

const server = createAgentServer({ agents })
const http = toTiny(server).listen(0, '127.0.0.1')
await new Promise((resolve) => http.once('listening', resolve))
const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/threads`)
assert.deepEqual(await response.json(), [])
await server.close()
http.closeAllConnections()
http.close()
