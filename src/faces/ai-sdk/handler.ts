import type { WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { createAiSdkGroup } from './group.ts'
import { AI_SDK_OPTIONS, type AiSdkOptions } from './options.ts'

/** The AI SDK handler alone, over an engine or the options for one. */
export const createAiSdkHandler = (
  options: FaceOptions & EngineChoice & { readonly aiSdk?: AiSdkOptions | undefined },
): WebHandler =>
  standalone('createAiSdkHandler', options, { aiSdk: AI_SDK_OPTIONS }, (setup) =>
    createAiSdkGroup(setup, options.aiSdk),
  )
