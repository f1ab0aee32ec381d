import type { WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { createAgUiGroup } from './group.ts'
import { AG_UI_OPTIONS, type AgUiOptions } from './options.ts'

/** The AG-UI handler alone, over an engine or the options for one. */
export const createAgUiHandler = (
  options: FaceOptions & EngineChoice & { readonly agUi?: AgUiOptions | undefined },
): WebHandler =>
  standalone('createAgUiHandler', options, { agUi: AG_UI_OPTIONS }, (setup) =>
    createAgUiGroup(setup, options.agUi),
  )
