import { type WebHandler, withCors } from '../http/index.ts'
import { checkFace, type EngineChoice, engineOf, type FaceOptions, groupOptions } from '../requests/face.ts'
import { DEVTOOLS_OPTIONS, type DevtoolsOptions } from './context.ts'
import { createDevtoolsGroup } from './group.ts'

/** The devtools alone, over an engine or the options for one. */
export function createDevtoolsHandler(
  options: FaceOptions & EngineChoice & { readonly devtools?: DevtoolsOptions | undefined },
): WebHandler {
  checkFace('createDevtoolsHandler', options, { devtools: DEVTOOLS_OPTIONS })
  const { engine, close: onClose } = engineOf(options)
  return withCors(
    createDevtoolsGroup({ ...groupOptions(options), engine, options: options.devtools, onClose }),
    options.http?.cors,
  )
}
