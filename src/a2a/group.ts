import { createHandler, type HandlerOptions, type WebHandler } from '../http/index.ts'
import { unbounded } from '../principal.ts'
import type { Authorize } from '../requests/access.ts'
import { namedAssistant } from '../requests/assistants.ts'
import { type FaceCall, type FaceRoute, guardRoutes } from '../requests/routes.ts'
import type { AgentEngine } from '../runs/index.ts'
import { extendedCard, getCard } from './card/get-card.ts'
import { cardSettings } from './card/options.ts'
import type { A2AContext } from './context.ts'
import { noSuchAssistant } from './errors.ts'
import { deletePush, getPush, listPush, setPush } from './operations/push.ts'
import { send, stream } from './operations/send.ts'
import { cancelTask, getTask, listTasks, subscribe } from './operations/tasks.ts'
import type { A2AOptions } from './options.ts'
import { createPushes } from './push/pushes.ts'
import { encodeA2AError } from './rpc/errors.ts'
import { postRpc } from './rpc/post.ts'

export interface A2AGroupOptions
  extends Pick<HandlerOptions, 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  readonly engine: AgentEngine
  readonly authorize?: Authorize | undefined
  readonly options?: A2AOptions | undefined
}

/** A2A over HTTP: a route table over the engine. */
export function createA2AGroup(given: A2AGroupOptions): WebHandler {
  const { engine, authorize, options = {}, ...handler } = given
  const { authenticate, onError, onClose } = handler
  const pushes = options.push === false ? undefined : createPushes(engine, options.push ?? {}, onError)
  const card = cardSettings(options.card, { authenticate, pushNotifications: pushes !== undefined })
  return createHandler({
    ...handler,
    basePath: options.basePath,
    routes: guardRoutes<A2AContext>(
      { engine, authenticate, authorize, onError, options, card, pushes },
      ROUTES,
    ),
    encodeError: encodeA2AError,
    async onClose() {
      await pushes?.outbox.close()
      await onClose?.()
    },
    onRefuse: (refusal) => engine.observe({ type: 'request.refused', ...refusal, at: Date.now() }),
  })
}

// Bundlers keep an unused call whose arguments have a spread.
const ask = /* @__PURE__ */ postRpc({
  send,
  stream,
  getTask,
  listTasks,
  cancelTask,
  subscribe,
  setPush,
  getPush,
  listPush,
  deletePush,
  extendedCard,
})

const ROUTES: readonly FaceRoute<A2AContext>[] = [
  // Each method has a permission of its own.
  [
    'POST',
    '/a2a/:assistant_id',
    null,
    async (context, call) => {
      context.pushes?.outbox.start()
      return ask(...(await withAssistant(context, call)))
    },
  ],
  ['GET', '/a2a/:assistant_id', 'public', getCard],
  ['GET', '/a2a/:assistant_id/.well-known/agent-card.json', 'public', getCard],
  ['GET', '/.well-known/agent-card.json', 'public', getCard],
]

/** The call of an assistant by the id of its graph. Throws 404 for one that is not there. */
async function withAssistant(context: A2AContext, call: FaceCall): Promise<readonly [A2AContext, FaceCall]> {
  const { agents } = context.engine
  const { graphId, assistant } = await namedAssistant(
    context.engine,
    // Which permission to ask for follows from the method: it may hide the assistant then.
    unbounded(call.principal),
    call.params.assistant_id ?? '',
  )
  if (graphId !== undefined && agents.has(graphId))
    return [
      { ...context, assistant },
      { ...call, params: { assistant_id: graphId } },
    ]
  throw noSuchAssistant(context.engine)
}
