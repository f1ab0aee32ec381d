import { standalone } from '../face/create-face.ts'
import type { EngineChoice, FaceOptions } from '../face/options.ts'
import type { WebHandler } from '../http/index.ts'
import { createAiSdkGroup } from './group.ts'
import { AI_SDK_OPTIONS, type AiSdkOptions } from './options.ts'

/** The AI SDK handler alone, over an engine or the options for one. */
export const createAiSdkHandler = (
  options: FaceOptions & EngineChoice & { readonly aiSdk?: AiSdkOptions | undefined },
): WebHandler =>
  standalone('createAiSdkHandler', options, { aiSdk: AI_SDK_OPTIONS }, (setup) =>
    createAiSdkGroup(setup, options.aiSdk),
  )
