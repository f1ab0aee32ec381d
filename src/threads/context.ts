import type { OnError } from '../http/index.ts'
import type { FaceContext } from '../requests/routes.ts'

/** What every endpoint of this group needs. */
export interface ThreadsContext extends FaceContext {
  /** Called with errors that are the server's fault, with the reference that the client gets. */
  readonly onError: OnError | undefined
}
