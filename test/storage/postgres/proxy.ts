import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A link to a server that can go silent, as a cable that was cut, or break. */
export interface Proxy {
  readonly url: string
  /** From now on bytes go nowhere, on all connections, in both directions. */
  stall(): void
  /** Bytes flow again, those that waited first. */
  resume(): void
  /** Breaks every connection. */
  reset(): void
  /** Connections ever made through it. */
  readonly accepted: number
  close(): Promise<void>
}

export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let stalled = false
  let accepted = 0
  const server = createServer((near) => {
    accepted += 1
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (stalled) from.pause()
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const local = new URL(url)
  local.port = String((server.address() as AddressInfo).port)
  return {
    url: local.href,
    stall() {
      stalled = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      stalled = false
      for (const socket of sockets) socket.resume()
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    get accepted() {
      return accepted
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
