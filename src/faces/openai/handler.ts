import type { WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { openAi } from './group.ts'
import { OPENAI_OPTIONS, type OpenAiOptions } from './options.ts'

/** The handler for OpenAI's clients alone, over an engine or the options for one. */
export const createOpenAiHandler = (
  options: FaceOptions & EngineChoice & { readonly openAi?: OpenAiOptions | undefined },
): WebHandler =>
  standalone('createOpenAiHandler', options, { openAi: OPENAI_OPTIONS }, openAi(options.openAi))
