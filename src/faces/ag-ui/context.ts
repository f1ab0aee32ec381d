import type { FaceContext } from '../kit/routes.ts'
import type { AgUiOptions } from './options.ts'

/** The context of every endpoint in this group. */
export interface AgUiContext extends FaceContext {
  readonly options: AgUiOptions
}
