import { createHandler, type HandlerOptions, type Principal, type WebHandler } from '../http/index.ts'
import type { Authorize } from '../requests/access.ts'
import { encodeRunError } from '../requests/errors.ts'
import { type FaceRoute, guardRoutes } from '../requests/routes.ts'
import type { AgentEngine } from '../runs/index.ts'
import { postAnswers, postCancel, postFork } from './actions.ts'
import { getCheckpoint, getCheckpoints } from './checkpoints.ts'
import type { DevtoolsContext, DevtoolsOptions } from './context.ts'
import { getPage } from './page.ts'
import { getServer, getStore, getWork } from './server.ts'
import { getLog, getThread, getThreads } from './threads.ts'

export interface DevtoolsGroupOptions
  extends Pick<HandlerOptions, 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  readonly engine: AgentEngine
  readonly authorize?: Authorize | undefined
  readonly options?: true | DevtoolsOptions | undefined
}

/** The devtools over HTTP: a page, and what it asks the engine. */
export function createDevtoolsGroup(given: DevtoolsGroupOptions): WebHandler {
  const { engine, authorize, options, ...handler } = given
  const { basePath, isOperator = isOpen }: DevtoolsOptions = options === true ? {} : (options ?? {})
  const { onError } = handler
  return createHandler({
    ...handler,
    basePath,
    routes: guardRoutes<DevtoolsContext>({ engine, authorize, onError, isOperator }, ROUTES),
    encodeError: encodeRunError,
    onRefuse: (refusal) => engine.observe({ type: 'request.refused', ...refusal, at: Date.now() }),
  })
}

/** Without authentication there is no principal, and everybody may do everything. */
const isOpen = (principal: Principal | null): boolean => principal === null

const THREAD = '/devtools/api/threads/:thread_id'

const ROUTES: readonly FaceRoute<DevtoolsContext>[] = [
  ['GET', '/devtools', 'threads:list', getPage],
  ['GET', '/devtools/api/server', 'threads:list', getServer],
  ['GET', '/devtools/api/work', 'threads:list', getWork],
  ['GET', '/devtools/api/store', 'threads:list', getStore],
  ['GET', '/devtools/api/threads', 'threads:list', getThreads],
  ['GET', THREAD, 'threads:read', getThread],
  ['GET', `${THREAD}/log`, 'threads:stream', getLog],
  ['GET', `${THREAD}/checkpoints`, 'threads:read', getCheckpoints],
  ['GET', `${THREAD}/checkpoints/:checkpoint_id`, 'threads:read', getCheckpoint],
  ['POST', `${THREAD}/answers`, 'runs:create', postAnswers],
  ['POST', `${THREAD}/forks`, 'runs:create', postFork],
  ['POST', `${THREAD}/runs/:run_id/cancel`, 'runs:cancel', postCancel],
]
