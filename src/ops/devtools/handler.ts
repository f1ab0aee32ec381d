import type { WebHandler } from '../../core/http/index.ts'
import { type EngineChoice, type FaceOptions, standalone } from '../../faces/kit/create-face.ts'
import { DEVTOOLS_OPTIONS, type DevtoolsOptions } from './context.ts'
import { createDevtoolsGroup } from './group.ts'

/** The devtools handler alone, over an engine or the options for one. */
export const createDevtoolsHandler = (
  options: FaceOptions & EngineChoice & { readonly devtools?: DevtoolsOptions | undefined },
): WebHandler =>
  standalone('createDevtoolsHandler', options, { devtools: DEVTOOLS_OPTIONS }, (setup) =>
    createDevtoolsGroup(setup, options.devtools),
  )
