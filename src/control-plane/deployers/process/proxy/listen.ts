import type { AddressInfo, Server } from 'node:net'
import { sleep } from '../../../../time.ts'
import { DeployError } from '../../errors.ts'

/** How long a port that is taken is waited for, in milliseconds: a process that was killed may hold it for a moment. */
const TAKEN_MS = 1_000

/** Listens on the wanted port, or on any free one where it is taken, and gives its number. */
export async function listen(server: Server, hostname: string, wanted: number | undefined): Promise<number> {
  const waitUntil = performance.now() + TAKEN_MS
  for (let port = wanted ?? 0; ; ) {
    try {
      await listenOn(server, hostname, port)
      return (server.address() as AddressInfo).port
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (port === 0)
        throw new DeployError(`No port can be opened on ${hostname}: ${code}.`, { cause: error })
      if (code === 'EADDRINUSE' && performance.now() < waitUntil) await sleep(50)
      else port = 0
    }
  }
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      server.off('error', settle).off('listening', settle)
      if (error) reject(error)
      else resolve()
    }
    server.on('error', settle).on('listening', settle)
    server.listen({ port, host })
  })
}
