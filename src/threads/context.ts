import type { OnError } from '../http/index.ts'
import type { FaceContext } from '../requests/routes.ts'

/** What every endpoint of this group stands on. */
export interface ThreadsContext extends FaceContext {
  /** Told of what is the server's fault, with the reference that the client is given. */
  readonly onError: OnError | undefined
}
