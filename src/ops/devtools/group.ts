import type { Call, Principal, WebHandler } from '../../core/http/index.ts'
import { resourceNamed } from '../../engine/assistants/index.ts'
import { createFace, type FaceSetup } from '../../faces/kit/create-face.ts'
import type { FaceRoute } from '../../faces/kit/routes.ts'
import { postAnswers, postCancel, postFork, postRun } from './actions.ts'
import { getCheckpoint, getCheckpoints } from './checkpoints.ts'
import type { DevtoolsContext, DevtoolsOptions } from './context.ts'
import { getGraph, getInput } from './graph.ts'
import { getLayout, getPage } from './page.ts'
import { getServer, getStore, getWork } from './server.ts'
import { getLog, getThread, getThreads } from './threads.ts'

/** The devtools over HTTP: a page and its API. */
export const createDevtoolsGroup = (
  setup: FaceSetup,
  { basePath, isOperator = isOpen, prices = {} }: DevtoolsOptions = {},
): WebHandler =>
  createFace<DevtoolsContext>(setup, { basePath, routes: ROUTES, context: { isOperator, prices } })

/** Without authentication there is no principal, and everyone is permitted everything. */
const isOpen = (principal: Principal | null): boolean => principal === null

/** The resource for `authorize`. */
const agentOf = async ({ engine }: DevtoolsContext, { params }: Call) => ({
  assistantId: await resourceNamed(engine, params.assistant_id!),
})

const THREAD = '/devtools/api/threads/:thread_id'

const ROUTES: readonly FaceRoute<DevtoolsContext>[] = [
  ['GET', '/devtools', 'threads:list', getPage],
  ['GET', '/devtools/api/layout', 'threads:list', getLayout],
  ['GET', '/devtools/api/server', 'threads:list', getServer],
  ['GET', '/devtools/api/work', 'threads:list', getWork],
  ['GET', '/devtools/api/store', 'threads:list', getStore],
  ['GET', '/devtools/api/agents/:assistant_id/graph', 'assistants:read', getGraph, agentOf],
  ['GET', '/devtools/api/agents/:assistant_id/input', 'assistants:read', getInput, agentOf],
  ['GET', '/devtools/api/threads', 'threads:list', getThreads],
  ['GET', THREAD, 'threads:read', getThread],
  ['GET', `${THREAD}/log`, 'threads:stream', getLog],
  ['GET', `${THREAD}/checkpoints`, 'threads:read', getCheckpoints],
  ['GET', `${THREAD}/checkpoints/:checkpoint_id`, 'threads:read', getCheckpoint],
  ['POST', `${THREAD}/runs`, 'runs:create', postRun],
  ['POST', `${THREAD}/answers`, 'runs:create', postAnswers],
  ['POST', `${THREAD}/forks`, 'runs:create', postFork],
  ['POST', `${THREAD}/runs/:run_id/cancel`, 'runs:cancel', postCancel],
]
