import { type WebHandler, withCors } from '../http/index.ts'
import type { OptionTable } from '../options.ts'
import {
  checkFace,
  type EngineChoice,
  engineOf,
  type FaceOptions,
  groupOptions,
  HTTP_OPTIONS,
  type HttpOptions,
} from '../requests/face.ts'
import {
  PLATFORM_OPTIONS,
  PLATFORM_SWITCHES,
  type PlatformOptions,
  type PlatformSwitches,
} from './context.ts'
import { createPlatformGroup } from './group.ts'

/** The REST of LangGraph's platform alone, over an engine or the options for one. */
export function createPlatformHandler(
  options: FaceOptions &
    EngineChoice & {
      readonly platform?: PlatformOptions | undefined
      readonly http?: (HttpOptions & PlatformSwitches) | undefined
    },
): WebHandler {
  const switches: OptionTable<HttpOptions & PlatformSwitches> = { ...HTTP_OPTIONS, ...PLATFORM_SWITCHES }
  checkFace('createPlatformHandler', options, { platform: PLATFORM_OPTIONS, http: switches })
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
