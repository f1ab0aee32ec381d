import type { OnError } from '../http/index.ts'
import type { FaceContext } from '../requests/routes.ts'

export interface OpenSocket {
  /** Ends the socket when nothing is left that it carries. Others end with the engine. */
  leave(): void
}

/** What every endpoint of this group needs. */
export interface ThreadsContext extends FaceContext {
  /** Called with errors that are the server's fault, with the reference that the client gets. */
  readonly onError: OnError | undefined
  /** The web sockets that are open. */
  readonly sockets: Set<OpenSocket>
  readonly maxBodyBytes: number
}
