import type { RunEngine } from '../runs/index.ts'
import type { Authorize } from './access.ts'

/** What every endpoint of this group stands on. */
export interface ThreadsContext {
  readonly engine: RunEngine
  readonly authorize: Authorize | undefined
}
