import type { Call, Principal, WebHandler } from '../../core/http/index.ts'
import { resourceNamed } from '../../engine/assistants/index.ts'
import { createFace, type FaceSetup } from '../../faces/kit/create-face.ts'
import { type FaceRow, route } from '../../faces/kit/routes.ts'
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

const ROUTES: readonly FaceRow<DevtoolsContext>[] = [
  route('GET', '/devtools', { permission: 'threads:list', run: getPage }),
  route('GET', '/devtools/api/layout', { permission: 'threads:list', run: getLayout }),
  route('GET', '/devtools/api/server', { permission: 'threads:list', run: getServer }),
  route('GET', '/devtools/api/work', { permission: 'threads:list', run: getWork }),
  route('GET', '/devtools/api/store', { permission: 'threads:list', run: getStore }),
  route('GET', '/devtools/api/agents/:assistant_id/graph', {
    permission: 'assistants:read',
    resource: agentOf,
    run: getGraph,
  }),
  route('GET', '/devtools/api/agents/:assistant_id/input', {
    permission: 'assistants:read',
    resource: agentOf,
    run: getInput,
  }),
  route('GET', '/devtools/api/threads', { permission: 'threads:list', run: getThreads }),
  route('GET', THREAD, { permission: 'threads:read', run: getThread }),
  route('GET', `${THREAD}/log`, { permission: 'threads:stream', run: getLog }),
  route('GET', `${THREAD}/checkpoints`, { permission: 'threads:read', run: getCheckpoints }),
  route('GET', `${THREAD}/checkpoints/:checkpoint_id`, { permission: 'threads:read', run: getCheckpoint }),
  route('POST', `${THREAD}/runs`, { permission: 'runs:create', run: postRun }),
  route('POST', `${THREAD}/answers`, { permission: 'runs:create', run: postAnswers }),
  route('POST', `${THREAD}/forks`, { permission: 'runs:create', run: postFork }),
  route('POST', `${THREAD}/runs/:run_id/cancel`, { permission: 'runs:cancel', run: postCancel }),
]
