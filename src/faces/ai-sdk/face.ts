import { asText, errorResponse, type WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import { checkOptions } from '../../core/options.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { encodeRunError } from '../kit/errors.ts'
import { type FaceRoute, onDemand } from '../kit/routes.ts'
import type { AiSdkContext } from './context.ts'
import { AI_SDK_OPTIONS, type AiSdkOptions } from './options.ts'

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
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    protocolHeaders: { response: ['x-vercel-ai-ui-message-stream'] },
    context: { options, shape: { isDynamic: tools !== 'static', ofClient } },
    // Pages show the body of an error response to their users.
    encodeError: (error, _, origin) =>
      asText(encodeRunError(error) ?? errorResponse(error, setup.onError, origin)),
  })
}

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

const ROUTES: readonly FaceRoute<AiSdkContext>[] = [
  // The thread is in the body.
  ['POST', '/chat', null, /* @__PURE__ */ onDemand(async () => (await endpoints()).postChat)],
  [
    'GET',
    '/chat/:thread_id',
    'threads:read',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).getMessages),
  ],
  [
    'GET',
    '/chat/:thread_id/stream',
    'threads:stream',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).getStream),
  ],
  [
    'POST',
    '/chat/:thread_id/stop',
    'runs:cancel',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).postStop),
  ],
]
