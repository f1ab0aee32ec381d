import type { OptionTable } from '../../core/options.ts'
import type { FaceContext } from '../kit/routes.ts'

/** The options of the Agent Streaming Protocol's routes. */
export interface ThreadsOptions {
  /** The prefix of the routes, such as `/api` for `/api/threads/…`. Default: none. */
  readonly basePath?: string | undefined
}

export const THREADS_OPTIONS: OptionTable<ThreadsOptions> = { basePath: 'string' }

export interface OpenSocket {
  /** Ends the socket when it has no subscriptions left. Others end with the engine. */
  leave(): void
}

export interface OpenSockets {
  /** If all sockets were already told to leave, the new one is told immediately. */
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

/** The commands that are being carried out, by thread. */
export interface PendingCommands {
  /** Carries out a command. */
  run<Result>(threadId: string, command: () => Promise<Result>): Promise<Result>
  /** Resolves when the commands that a thread had at this moment are done, and at once if it had none. */
  settled(threadId: string): Promise<unknown>
}

export function createPendingCommands(): PendingCommands {
  const pending = new Map<string, Set<Promise<unknown>>>()
  return {
    async run(threadId, command) {
      const ofThread = pending.get(threadId) ?? new Set()
      pending.set(threadId, ofThread)
      const running = command()
      ofThread.add(running)
      try {
        return await running
      } finally {
        ofThread.delete(running)
        if (ofThread.size === 0) pending.delete(threadId)
      }
    },
    settled: (threadId) => Promise.allSettled(pending.get(threadId) ?? []),
  }
}

/** The context of every endpoint in this group. */
export interface ThreadsContext extends FaceContext {
  readonly commands: PendingCommands
  /** The open web sockets. */
  readonly sockets: OpenSockets
  readonly maxBodyBytes: number
}
