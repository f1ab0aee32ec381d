import type { Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'

export interface Listening {
  readonly origin: string
  /** Stops the server. Resolves when the last of its connections has ended, and cuts none that is in use. */
  close(): Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function listen(server: Server | Http2Server): Promise<Listening> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => stop(server) }
}

async function stop(server: Server | Http2Server): Promise<void> {
  const sweep = setInterval(() => 'closeIdleConnections' in server && server.closeIdleConnections(), 10)
  try {
    await new Promise((resolve) => server.close(resolve))
  } finally {
    clearInterval(sweep)
  }
}
