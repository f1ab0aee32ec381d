import type { FaceContext } from '../kit/routes.ts'
import type { AiSdkOptions } from './options.ts'
import type { Shape } from './parts.ts'

export interface AiSdkContext extends FaceContext {
  readonly options: AiSdkOptions
  readonly shape: Shape
}
