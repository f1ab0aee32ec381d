import { type WebHandler, withCors } from '../http/index.ts'
import {
  type EngineChoice,
  engineOf,
  type FaceOptions,
  groupOptions,
  type HttpOptions,
} from '../requests/face.ts'
import type { PlatformOptions, PlatformSwitches } from './context.ts'
import { createPlatformGroup } from './group.ts'

/** The REST of LangGraph's platform alone, over an engine or the options for one. */
export function createPlatformHandler(
  options: FaceOptions &
    EngineChoice & {
      readonly platform?: PlatformOptions | undefined
      readonly http?: (HttpOptions & PlatformSwitches) | undefined
    },
): WebHandler {
  const { engine, close: onClose } = engineOf(options)
  const { platform, http } = options
  return withCors(
    createPlatformGroup({
      ...groupOptions(options),
      engine,
      basePath: platform?.basePath,
      webhooks: platform?.webhooks,
      surroundings: platform?.surroundings,
      switches: http,
      onClose,
    }),
    http?.cors,
  )
}
