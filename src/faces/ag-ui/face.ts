import type { WebHandler } from '../../core/http/index.ts'
import { checkOptions } from '../../core/options.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { AG_UI_OPTIONS, type AgUiContext, type AgUiOptions } from './options.ts'

/**
 * AG-UI as a face of a server: runs for `HttpAgent`, and the routes of CopilotKit's runtime. See
 * docs/ag-ui.md.
 *
 * @example
 * ```ts
 * const server = createAgentServer({ agents, faces: [agUi()] })
 * ```
 */
export function agUi(options: AgUiOptions = {}): (setup: FaceSetup) => WebHandler {
  checkOptions('agUi', options, AG_UI_OPTIONS)
  return (setup) => createAgUiGroup(setup, options)
}

/** The routes over the engine, which are loaded with the first request. */
export const createAgUiGroup = (setup: FaceSetup, options: AgUiOptions = {}): WebHandler =>
  createFace<AgUiContext>(setup, {
    basePath: options.basePath,
    routes: [{ below: ['/ag-ui'], load: async () => (await import('./routes.ts')).ROUTES }],
    context: { options },
  })

/** The AG-UI handler alone, over an engine or the options for one. */
export const createAgUiHandler = (
  options: FaceOptions & EngineChoice & { readonly agUi?: AgUiOptions | undefined },
): WebHandler =>
  standalone('createAgUiHandler', options, { agUi: AG_UI_OPTIONS }, (setup) =>
    createAgUiGroup(setup, options.agUi),
  )
