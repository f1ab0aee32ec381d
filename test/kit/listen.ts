import type { Server as HttpServer } from 'node:http'
import type { Http2Server } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Listens on the loopback interface and gives the port. The system chooses it where none is named. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

export interface Listening {
  readonly origin: string
  /** Stops the server. Resolves when the last of its connections has ended, and cuts none that is in use. */
  close(): Promise<void>
}

/** Listens on a free port, and can stop as a server in production does. */
export async function openServer(server: HttpServer | Http2Server): Promise<Listening> {
  const port = await listen(server)
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      const sweep = setInterval(() => 'closeIdleConnections' in server && server.closeIdleConnections(), 10)
      try {
        await new Promise((resolve) => server.close(resolve))
      } finally {
        clearInterval(sweep)
      }
    },
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listen(probe)
  await new Promise((resolve) => {
    probe.close(resolve)
  })
  return port
}
