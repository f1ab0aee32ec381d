import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import type { WebHandler } from '../../../src/core/http/types.ts'
import { openServer } from '../../kit/listen.ts'
import { connect } from '../connect.ts'
import { allBut } from './capabilities.ts'

/** A bridge as it is often written. The audits must find its faults. */
export const naive: AdapterTarget = {
  name: 'naive',
  can: allBut(),
  connect,
  async start(handler, { mount, headers = {} }) {
    const server = createServer((req, res) => {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
      bridge(handler, mount, req, res).catch((error) => res.end(String(error)))
    })
    const { origin, close } = await openServer(server)
    return {
      origin,
      async close() {
        server.closeAllConnections()
        await close()
      },
    }
  },
}

async function bridge(
  handler: WebHandler,
  basePath: string | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const protocol = req.headers['x-forwarded-proto'] ?? 'http'
  const url = new URL(req.url!, `${protocol}://${req.headers['x-forwarded-host'] ?? req.headers.host}`)
  let body = ''
  for await (const chunk of req) body += chunk
  const leaving = new AbortController()
  res.on('close', () => leaving.abort())
  const request = new Request(url, {
    method: req.method!,
    headers: Object.entries(req.headers) as [string, string][],
    body: body === '' ? null : body,
    signal: leaving.signal,
  })
  const response = await handler.fetch(request, { parsedBody: body, basePath })
  res.writeHead(response.status || 200, Object.fromEntries(response.headers))
  if (!response.body) return void res.end()
  Readable.fromWeb(response.body as never)
    .on('error', (error) => res.end(error.message))
    .pipe(res)
}
