import { type AddressInfo, createServer } from 'node:net'

/** The port, or any free port for 0. Throws an Error with a readable message if it cannot be used. */
export function freePort(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const problem =
        code === 'EADDRINUSE'
          ? `Port ${port} is already in use. Stop the process that listens there, or choose another port.`
          : `Nothing can listen on ${host}, port ${port}: ${message}. Choose another port.`
      reject(new Error(`${problem} Such as: PORT=${port + 1} npm run demo`))
    })
    server.listen({ port, host }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
