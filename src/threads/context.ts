import type { OnError } from '../http/index.ts'
import type { Authorize } from '../requests/access.ts'
import type { RunEngine } from '../runs/index.ts'

/** What every endpoint of this group stands on. */
export interface ThreadsContext {
  readonly engine: RunEngine
  readonly authorize: Authorize | undefined
  /** Told of what is the server's fault, with the reference that the client is given. */
  readonly onError: OnError | undefined
}
