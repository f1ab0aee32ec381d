import type { WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import { type EngineChoice, type FaceOptions, HTTP_OPTIONS, type HttpOptions } from '../kit/options.ts'
import {
  PLATFORM_OPTIONS,
  PLATFORM_SWITCHES,
  type PlatformOptions,
  type PlatformSwitches,
} from './context.ts'
import { createPlatformGroup } from './group.ts'

/** The REST API of LangGraph's platform alone, over an engine or the options for one. */
export const createPlatformHandler = (
  options: FaceOptions &
    EngineChoice & {
      readonly platform?: PlatformOptions | undefined
      readonly http?: (HttpOptions & PlatformSwitches) | undefined
    },
): WebHandler =>
  standalone(
    'createPlatformHandler',
    options,
    { platform: PLATFORM_OPTIONS, http: { ...HTTP_OPTIONS, ...PLATFORM_SWITCHES } },
    (setup) => createPlatformGroup(setup, options.platform, options.http),
  )
