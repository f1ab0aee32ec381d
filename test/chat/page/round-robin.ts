import { createServer, request, type ServerResponse } from 'node:http'
import { listen } from '../../kit/listen.ts'

export interface RoundRobin {
  readonly origin: string
  readonly port: number
  close(): Promise<void>
}

/**
 * A reverse proxy that gives each request to the next instance, and to the one after it where that does not listen. It listens on
 * a free port where none is named.
 */
export async function startRoundRobin(ports: readonly number[], own = 0): Promise<RoundRobin> {
  let turn = 0
  const server = createServer((asked, answer) => {
    const chunks: Buffer[] = []
    asked.on('data', (chunk: Buffer) => chunks.push(chunk))
    asked.on('end', () => forward(Buffer.concat(chunks), ports.length))

    function forward(body: Buffer, left: number): void {
      if (left === 0) {
        fail(answer)
        return
      }
      const { method, url, headers } = asked
      const port = ports[turn++ % ports.length]
      const passed = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
      let isConnected = false
      passed.on('socket', (socket) => {
        socket.on('connect', () => {
          isConnected = true
        })
      })
      // What a process that was killed had received may have been done: it is not sent twice.
      passed.on('error', () => (isConnected ? fail(answer) : forward(body, left - 1)))
      passed.on('response', (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        answer.flushHeaders()
        response.on('error', () => answer.destroy())
        response.pipe(answer)
      })
      answer.on('close', () => passed.destroy())
      passed.end(body)
    }
  })
  const port = await listen(server, own)
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function fail(answer: ServerResponse): void {
  if (answer.headersSent) answer.destroy()
  else answer.writeHead(502).end()
}
