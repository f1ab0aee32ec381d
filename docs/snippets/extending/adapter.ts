import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { agents } from '../kit/agents.ts'
import { closeServers, origin } from '../kit/served.ts'

// #region adapter
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { WebHandler } from 'agentwire'

/** A minimal adapter: converts the request and the response, and aborts when the client disconnects. */
export function toTiny(handler: WebHandler) {
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

const server = createAgentServer({ agents })
toTiny(server).listen(0, '127.0.0.1')
assert.deepEqual(await (await fetch(`${await origin()}/threads`)).json(), [])
closeServers()
await server.close()
