import type { WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import { checkOptions } from '../../core/options.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { type FaceRoute, onDemand } from '../kit/routes.ts'
import type { OpenAiContext } from './context.ts'
import { errorEncoder } from './errors.ts'
import { THREAD_HEADERS } from './headers.ts'
import { OPENAI_OPTIONS, type OpenAiOptions } from './options.ts'

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
      routes: ROUTES,
      describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
      protocolHeaders: { request: [...THREAD_HEADERS, ...CLIENT_HEADERS] },
      context: { options },
      encodeError: errorEncoder(setup.onError),
    })
}

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

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

type Endpoints = Awaited<ReturnType<typeof endpoints>>

const at = (name: keyof Endpoints) => onDemand<OpenAiContext>(async () => (await endpoints())[name])

const ROUTES: readonly FaceRoute<OpenAiContext>[] = [
  ['GET', '/v1/models', 'assistants:search', /* @__PURE__ */ at('listModels')],
  // The body or the id determines the permission and its resource.
  ['GET', '/v1/models/:model', null, /* @__PURE__ */ at('getModel')],
  ['POST', '/v1/chat/completions', null, /* @__PURE__ */ at('postChat')],
  ['POST', '/v1/responses', null, /* @__PURE__ */ at('postResponse')],
  ['POST', '/v1/responses/input_tokens', 'assistants:search', /* @__PURE__ */ at('countTokens')],
  ['GET', '/v1/responses/:response_id', null, /* @__PURE__ */ at('getResponse')],
  ['GET', '/v1/responses/:response_id/input_items', null, /* @__PURE__ */ at('listInputItems')],
  ['POST', '/v1/responses/:response_id/cancel', null, /* @__PURE__ */ at('cancelResponse')],
  ['DELETE', '/v1/responses/:response_id', null, /* @__PURE__ */ at('deleteResponse')],
  ['POST', '/v1/conversations', null, /* @__PURE__ */ at('postConversation')],
  ['GET', '/v1/conversations/:conversation_id', null, /* @__PURE__ */ at('getConversation')],
  ['POST', '/v1/conversations/:conversation_id', null, /* @__PURE__ */ at('patchConversation')],
  ['DELETE', '/v1/conversations/:conversation_id', null, /* @__PURE__ */ at('deleteConversation')],
  ['GET', '/v1/conversations/:conversation_id/items', null, /* @__PURE__ */ at('listItems')],
  ['POST', '/v1/conversations/:conversation_id/items', null, /* @__PURE__ */ at('postItems')],
  ['GET', '/v1/conversations/:conversation_id/items/:item_id', null, /* @__PURE__ */ at('getItem')],
  ['DELETE', '/v1/conversations/:conversation_id/items/:item_id', null, /* @__PURE__ */ at('deleteItem')],
]
