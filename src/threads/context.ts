import type { FaceContext } from '../face/routes.ts'
import type { OptionTable } from '../options.ts'

export interface ThreadsOptions {
  /** Such as `/api`, for `/api/threads/…`. Default: none. */
  readonly basePath?: string | undefined
}

export const THREADS_OPTIONS: OptionTable<ThreadsOptions> = { basePath: 'string' }

export interface OpenSocket {
  /** Ends the socket when nothing is left that it carries. Others end with the engine. */
  leave(): void
}

export interface OpenSockets {
  /** Once all are told to leave, it is told at once. */
  add(socket: OpenSocket): void
  delete(socket: OpenSocket): void
  leave(): void
}

export function createOpenSockets(): OpenSockets {
  const open = new Set<OpenSocket>()
  let leaving = false
  return {
    add(socket) {
      open.add(socket)
      if (leaving) socket.leave()
    },
    delete: (socket) => void open.delete(socket),
    leave() {
      leaving = true
      for (const socket of open) socket.leave()
    },
  }
}

/** What every endpoint of this group needs. */
export interface ThreadsContext extends FaceContext {
  /** The web sockets that are open. */
  readonly sockets: OpenSockets
  readonly maxBodyBytes: number
}
