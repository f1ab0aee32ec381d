import { type OnError, originOf, reportError } from '../http/index.ts'
import type { FaceCall, FaceContext } from '../requests/routes.ts'
import { RunError } from '../runs/index.ts'

/** What every endpoint of this group needs. */
export interface ThreadsContext extends FaceContext {
  /** Called with errors that are the server's fault, with the reference that the client gets. */
  readonly onError: OnError | undefined
}

/** Reports what breaks a response off after its head. A deleted thread and a closing server are not failures. */
export const reporterOf =
  ({ onError }: ThreadsContext, { request, params }: FaceCall) =>
  (error: unknown): void => {
    if (!(error instanceof RunError)) reportError(error, onError, originOf(request, params))
  }
