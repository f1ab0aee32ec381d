import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A link to a server that can break, go silent for a while, or lose its far end unnoticed. */
export interface Proxy {
  readonly url: string
  /** From now on bytes wait, on all connections, in both directions, and new connections get no answer. */
  stall(): void
  /** Bytes flow again, those that waited first. */
  resume(): void
  /** Breaks every connection (RST). New ones pass. */
  reset(): void
  /** Half-open: every connection loses its far end and is not told. What is sent on it goes nowhere. New ones pass. */
  strand(): void
  /** Connections ever made through it. */
  readonly accepted: number
  close(): Promise<void>
}

export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const near = new Set<Socket>()
  const far = new Set<Socket>()
  const stranded = new Set<Socket>()
  let stalled = false
  let accepted = 0
  const join = (own: Set<Socket>, from: Socket, to: Socket) => {
    own.add(from)
    from.on('data', (bytes) => to.write(bytes))
    from.on('error', () => stranded.has(to) || to.destroy())
    from.on('close', () => {
      own.delete(from)
      if (!stranded.has(to)) to.destroy()
    })
    if (stalled) from.pause()
  }
  const server = createServer({ noDelay: true }, (client) => {
    accepted += 1
    const backend = connect({ host: target.hostname, port: Number(target.port), noDelay: true })
    join(near, client, backend)
    join(far, backend, client)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const local = new URL(url)
  local.port = String((server.address() as AddressInfo).port)
  const all = () => [...near, ...far]
  return {
    url: local.href,
    stall() {
      stalled = true
      for (const socket of all()) socket.pause()
    },
    resume() {
      stalled = false
      for (const socket of all()) socket.resume()
    },
    reset() {
      for (const socket of all()) socket.resetAndDestroy()
    },
    strand() {
      for (const socket of near) stranded.add(socket)
      for (const socket of far) socket.destroy()
    },
    get accepted() {
      return accepted
    },
    async close() {
      for (const socket of all()) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
