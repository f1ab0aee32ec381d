import { standalone } from '../face/create-face.ts'
import type { EngineChoice, FaceOptions } from '../face/options.ts'
import type { WebHandler } from '../http/index.ts'
import { DEVTOOLS_OPTIONS, type DevtoolsOptions } from './context.ts'
import { createDevtoolsGroup } from './group.ts'

/** The devtools handler alone, over an engine or the options for one. */
export const createDevtoolsHandler = (
  options: FaceOptions & EngineChoice & { readonly devtools?: DevtoolsOptions | undefined },
): WebHandler =>
  standalone('createDevtoolsHandler', options, { devtools: DEVTOOLS_OPTIONS }, (setup) =>
    createDevtoolsGroup(setup, options.devtools),
  )
