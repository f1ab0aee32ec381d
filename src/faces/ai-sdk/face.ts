import { asText, errorResponse, type WebHandler } from '../../core/http/index.ts'
import { checkOptions } from '../../core/options.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { encodeRunError } from '../kit/errors.ts'
import { AI_SDK_OPTIONS, type AiSdkContext, type AiSdkOptions } from './options.ts'

/**
 * The routes for the AI SDK's `useChat`, over a server's threads: `POST /api/chat`, `GET
 * /api/chat/{id}/stream`, `POST /api/chat/{id}/stop` and `GET /api/chat/{id}`. See docs/ai-sdk.md.
 *
 * @example
 * ```ts
 * const server = createAgentServer({ agents, faces: [aiSdk()] })
 * ```
 */
export function aiSdk(options: AiSdkOptions = {}): (setup: FaceSetup) => WebHandler {
  checkOptions('aiSdk', options, AI_SDK_OPTIONS)
  return (setup) => createAiSdkGroup(setup, options)
}

export function createAiSdkGroup(setup: FaceSetup, options: AiSdkOptions = {}): WebHandler {
  const { basePath = '/api', tools = 'dynamic', clientTools = [] } = options
  const ofClient = new Set(clientTools.map((tool) => tool.function.name))
  return createFace<AiSdkContext>(setup, {
    basePath,
    routes: [{ below: ['/chat'], load: async () => (await import('./routes.ts')).ROUTES }],
    protocolHeaders: { response: ['x-vercel-ai-ui-message-stream'] },
    context: { options, shape: { isDynamic: tools !== 'static', ofClient } },
    // Pages show the body of an error response to their users.
    encodeError: (error, _, origin) =>
      asText(encodeRunError(error) ?? errorResponse(error, setup.onError, origin)),
  })
}

/** The AI SDK handler alone, over an engine or the options for one. */
export const createAiSdkHandler = (
  options: FaceOptions & EngineChoice & { readonly aiSdk?: AiSdkOptions | undefined },
): WebHandler =>
  standalone('createAiSdkHandler', options, { aiSdk: AI_SDK_OPTIONS }, (setup) =>
    createAiSdkGroup(setup, options.aiSdk),
  )
