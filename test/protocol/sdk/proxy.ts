import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  readonly origin: string
  /** Destroys every connection, as a lost network does. New ones are taken. */
  cut(): void
  close(): Promise<void>
}

/** Passes TCP connections on to a server, so that they can be cut whatever the server is made of. */
export async function startProxy(origin: string): Promise<Proxy> {
  const { hostname: host, port } = new URL(origin)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A cut connection is what this is for.
    socket.on('error', () => {})
  }
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port), noDelay: true })
    keep(near)
    keep(far)
    near.setNoDelay(true)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
