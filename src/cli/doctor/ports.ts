import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Check } from './check.ts'

/** Checks whether a server could listen on each port of this machine. */
export const portChecks = (ports: readonly number[]): Promise<readonly Check[]> =>
  Promise.all(ports.map(portCheck))

async function portCheck(port: number): Promise<Check> {
  const code = await listenOnce(port)
  if (code === undefined) return { check: 'port', level: 'ok', text: `Port ${port} is free.` }
  const text =
    code === 'EADDRINUSE'
      ? `Port ${port} is in use: stop the program that listens there, or choose another port. If it is your server, pass its --url.`
      : `Nobody can listen on port ${port} (${code}): choose another port.`
  return { check: 'port', level: 'warning', text }
}

/** The code of the error, if there is one. */
async function listenOnce(port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    server.close()
    await once(server, 'close')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
