import type { FaceContext } from '../face/routes.ts'
import type { AgUiOptions } from './options.ts'

/** What every endpoint of this group needs. */
export interface AgUiContext extends FaceContext {
  readonly options: AgUiOptions
}
