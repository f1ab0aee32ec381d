import type { FaceContext } from '../face/routes.ts'
import type { OpenAiOptions } from './options.ts'

/** The context of every endpoint in this group. */
export interface OpenAiContext extends FaceContext {
  readonly options: OpenAiOptions
}
