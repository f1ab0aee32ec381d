import type { FaceContext } from '../face/routes.ts'
import type { OpenAiOptions } from './options.ts'

/** What every endpoint of this group needs. */
export interface OpenAiContext extends FaceContext {
  readonly options: OpenAiOptions
}
