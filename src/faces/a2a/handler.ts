import type { WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { createA2AGroup } from './group.ts'
import { A2A_OPTIONS, type A2AOptions } from './options.ts'

/**
 * Creates a handler that serves only A2A, with an engine or the options to create one. Throws
 * `AgentwireError` `invalid_argument` for unknown or invalid options.
 */
export const createA2AHandler = (
  options: FaceOptions & EngineChoice & { readonly a2a?: A2AOptions | undefined },
): WebHandler =>
  standalone('createA2AHandler', options, { a2a: A2A_OPTIONS }, (setup) => createA2AGroup(setup, options.a2a))
