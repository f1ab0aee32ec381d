/** Closes what a snippet serves, because pages show servers that run until they are stopped. Import it before the adapters. */
import { type AddressInfo, Server } from 'node:net'

const listening = new Set<Server & { closeAllConnections?(): void }>()
const { listen } = Server.prototype
Server.prototype.listen = function (this: Server, ...given: unknown[]) {
  listening.add(this)
  return Reflect.apply(listen, this, given)
} as Server['listen']

/** The origin of the server that was started last. */
export async function origin(): Promise<string> {
  const server = [...listening].at(-1)!
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function closeServers(): void {
  for (const server of listening) {
    server.closeAllConnections?.()
    server.close()
  }
  listening.clear()
}
