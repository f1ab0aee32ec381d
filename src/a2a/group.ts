import { namedAssistant } from '../face/assistants.ts'
import { createFace, type FaceSetup } from '../face/create-face.ts'
import type { FaceCall, FaceRoute } from '../face/routes.ts'
import type { WebHandler } from '../http/index.ts'
import { unbounded } from '../principal.ts'
import { jobsOf } from '../runs/index.ts'
import { extendedCard, getCard } from './card/get-card.ts'
import { cardSettings } from './card/options.ts'
import type { A2AContext } from './context.ts'
import { noSuchAssistant } from './errors.ts'
import { deletePush, getPush, listPush, setPush } from './operations/push.ts'
import { send, stream } from './operations/send.ts'
import { cancelTask, getTask, listTasks, subscribe } from './operations/tasks.ts'
import type { A2AOptions } from './options.ts'
import { pushJobs } from './push/pushes.ts'
import { encodeA2AError } from './rpc/errors.ts'
import { postRpc } from './rpc/post.ts'

/** A2A over HTTP: a route table over the engine. */
export function createA2AGroup(setup: FaceSetup, options: A2AOptions = {}): WebHandler {
  const { engine, authenticate } = setup
  const push = options.push === false ? undefined : (options.push ?? {})
  const jobs = jobsOf(engine)
  if (push) jobs.register(pushJobs(engine, push))
  const card = cardSettings(options.card, { authenticate, pushNotifications: push !== undefined })
  return createFace<A2AContext>(setup, {
    basePath: options.basePath,
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: { authenticate, options, card, push },
    encodeError: encodeA2AError,
    onRequest: jobs.start,
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
  ['POST', '/a2a/:assistant_id', null, async (context, call) => ask(...(await withAssistant(context, call)))],
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
