import type { WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import { checkOptions } from '../../core/options.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { type FaceRoute, onDemand } from '../kit/routes.ts'
import type { AgUiContext } from './context.ts'
import { AG_UI_OPTIONS, type AgUiOptions } from './options.ts'

/**
 * AG-UI as a face of a server: runs for `HttpAgent`, and the routes of CopilotKit's runtime. See
 * docs/ag-ui.md.
 *
 * @example
 * ```ts
 * const server = createAgentServer({ agents, faces: [agUi()] })
 * ```
 */
export function agUi(options: AgUiOptions = {}): (setup: FaceSetup) => WebHandler {
  checkOptions('agUi', options, AG_UI_OPTIONS)
  return (setup) => createAgUiGroup(setup, options)
}

/** A route table over the engine. The endpoints are loaded with the first request. */
export const createAgUiGroup = (setup: FaceSetup, options: AgUiOptions = {}): WebHandler =>
  createFace<AgUiContext>(setup, {
    basePath: options.basePath,
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: { options },
  })

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

const run = /* @__PURE__ */ onDemand<AgUiContext>(async () => (await endpoints()).run)
const stopAgent = /* @__PURE__ */ onDemand<AgUiContext>(async () => (await endpoints()).stop)

const ROUTES: readonly FaceRoute<AgUiContext>[] = [
  // The thread is in the body.
  ['POST', '/ag-ui/:agent_id', null, run],
  ['GET', '/ag-ui/info', 'assistants:search', /* @__PURE__ */ onDemand(async () => (await endpoints()).info)],
  ['POST', '/ag-ui/agent/:agent_id/run', null, run],
  [
    'POST',
    '/ag-ui/agent/:agent_id/connect',
    null,
    /* @__PURE__ */ onDemand(async () => (await endpoints()).connect),
  ],
  ['POST', '/ag-ui/agent/:agent_id/stop/:thread_id', null, stopAgent],
]
