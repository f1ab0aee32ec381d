import { standalone } from '../face/create-face.ts'
import type { EngineChoice, FaceOptions } from '../face/options.ts'
import type { WebHandler } from '../http/index.ts'
import { openAi } from './group.ts'
import { OPENAI_OPTIONS, type OpenAiOptions } from './options.ts'

/** The handler for OpenAI's clients alone, over an engine or the options for one. */
export const createOpenAiHandler = (
  options: FaceOptions & EngineChoice & { readonly openAi?: OpenAiOptions | undefined },
): WebHandler =>
  standalone('createOpenAiHandler', options, { openAi: OPENAI_OPTIONS }, openAi(options.openAi))
