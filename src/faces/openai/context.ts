import type { FaceContext } from '../kit/routes.ts'
import type { OpenAiOptions } from './options.ts'

/** The context of every endpoint in this group. */
export interface OpenAiContext extends FaceContext {
  readonly options: OpenAiOptions
}
