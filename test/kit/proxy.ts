import { connect, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

/** A link to a server that can break, stall, lose its far end unnoticed, or lead to another server. */
export interface Proxy {
  readonly url: string
  /** From now on bytes wait, on all connections and in both directions, and new connections get no answer. */
  stall(): void
  /** Bytes flow again, those that waited first. */
  resume(): void
  /** Breaks every connection (RST). New ones pass. */
  reset(): void
  /** Ends every connection, as a lost network does. New ones pass. */
  cut(): void
  /** Half-open: every connection loses its far end without a notice. What is sent on it is lost. New ones pass. */
  strand(): void
  /** Ends every connection, and lets new ones wait until `turnTo`. */
  hold(): void
  /** Leads new connections, and those that wait, to another server. */
  turnTo(url: string): void
  /** The number of connections that were ever made through it. */
  readonly accepted: number
  close(): Promise<void>
}

/** Passes TCP connections on to a server, so that they can be cut whatever the server is made of. */
export async function startProxy(url: string): Promise<Proxy> {
  const near = new Set<Socket>()
  const far = new Set<Socket>()
  const stranded = new Set<Socket>()
  let target: URL | undefined = new URL(url)
  let waiting: Socket[] = []
  let stalled = false
  let accepted = 0
  const pass = (own: Set<Socket>, from: Socket, to: Socket) => {
    own.add(from)
    from.on('data', (bytes) => to.write(bytes))
    from.on('error', () => stranded.has(to) || to.destroy())
    from.on('close', () => {
      own.delete(from)
      if (!stranded.has(to)) to.destroy()
    })
    if (stalled) from.pause()
  }
  const join = (client: Socket, { hostname, port }: URL) => {
    const backend = connect({ host: hostname, port: Number(port), noDelay: true })
    pass(near, client, backend)
    pass(far, backend, client)
  }
  const server = createServer({ noDelay: true }, (client) => {
    accepted += 1
    if (target) join(client, target)
    else waiting.push(client.on('error', () => {}))
  })
  const local = new URL(url)
  local.port = String(await listen(server))
  const all = () => [...near, ...far, ...waiting]
  const cut = () => {
    for (const socket of all()) socket.destroy()
  }
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
    cut,
    strand() {
      for (const socket of near) stranded.add(socket)
      for (const socket of far) socket.destroy()
    },
    hold() {
      target = undefined
      cut()
    },
    turnTo(next) {
      target = new URL(next)
      for (const client of waiting) if (!client.destroyed) join(client, target)
      waiting = []
    },
    get accepted() {
      return accepted
    },
    async close() {
      cut()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
