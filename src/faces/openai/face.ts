import type { WebHandler } from '../../core/http/index.ts'
import { checkOptions } from '../../core/options.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { errorEncoder } from './errors.ts'
import { THREAD_HEADERS } from './ids.ts'
import { OPENAI_OPTIONS, type OpenAiContext, type OpenAiOptions } from './options.ts'

/**
 * The face for OpenAI's clients: models, chat completions, responses and conversations under `/v1`.
 *
 * @example
 * ```ts
 * const server = createAgentServer({ agents, faces: [openAi()] })
 * ```
 */
export function openAi(options: OpenAiOptions = {}): (setup: FaceSetup) => WebHandler {
  checkOptions('openAi', options, OPENAI_OPTIONS)
  return (setup) =>
    createFace<OpenAiContext>(setup, {
      basePath: options.basePath,
      errorsBelow: '/v1',
      routes: [{ below: ['/v1'], load: async () => (await import('./routes.ts')).ROUTES }],
      protocolHeaders: { request: [...THREAD_HEADERS, ...CLIENT_HEADERS] },
      context: { options },
      encodeError: errorEncoder(setup.onError),
    })
}

/** The handler for OpenAI's clients alone, over an engine or the options for one. */
export const createOpenAiHandler = (
  options: FaceOptions & EngineChoice & { readonly openAi?: OpenAiOptions | undefined },
): WebHandler =>
  standalone('createOpenAiHandler', options, { openAi: OPENAI_OPTIONS }, openAi(options.openAi))

/** The headers that OpenAI's client and its Agents SDK send from a browser. */
const CLIENT_HEADERS = [
  'openai-beta',
  'openai-organization',
  'openai-project',
  'user-agent',
  'x-stainless-arch',
  'x-stainless-custom-poll-interval',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-poll-helper',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
]
