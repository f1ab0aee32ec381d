import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  readonly origin: string
  /** Destroys every connection, as a lost network does. New ones are taken. */
  cut(): void
  /** Destroys every connection, and lets new ones wait until there is a server again. */
  hold(): void
  /** Sends the connections that wait, and new ones, to another server. */
  turnTo(origin: string): void
  close(): Promise<void>
}

/** Passes TCP connections on to a server, so that they can be cut whatever the server is made of. */
export async function startProxy(origin: string): Promise<Proxy> {
  let target: URL | undefined = new URL(origin)
  let waiting: Socket[] = []
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A cut connection is what this is for.
    socket.on('error', () => {})
  }
  const join = (near: Socket, { hostname, port }: URL) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    keep(far)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  }
  const server = createServer({ noDelay: true }, (near) => {
    keep(near)
    if (target) join(near, target)
    else waiting.push(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    hold() {
      target = undefined
      cut()
    },
    turnTo(next) {
      target = new URL(next)
      for (const near of waiting) join(near, target)
      waiting = []
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
