import type { FaceContext } from '../face/routes.ts'
import type { AgUiOptions } from './options.ts'

/** The context of every endpoint in this group. */
export interface AgUiContext extends FaceContext {
  readonly options: AgUiOptions
}
