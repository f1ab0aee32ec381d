import { type WebHandler, withCors } from '../http/index.ts'
import { checkFace, type EngineChoice, engineOf, type FaceOptions, groupOptions } from '../requests/face.ts'
import { createA2AGroup } from './group.ts'
import { A2A_OPTIONS, type A2AOptions } from './options.ts'

/** A2A alone, over an engine or the options for one. */
export function createA2AHandler(
  options: FaceOptions & EngineChoice & { readonly a2a?: A2AOptions | undefined },
): WebHandler {
  checkFace('createA2AHandler', options, { a2a: A2A_OPTIONS })
  const { engine, close: onClose } = engineOf(options)
  return withCors(
    createA2AGroup({ ...groupOptions(options), engine, options: options.a2a, onClose }),
    options.http?.cors,
  )
}
