import { withoutMetadataFilter } from '../../../core/principal.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { extendedCard } from '../card/get-card.ts'
import { noSuchAssistant } from '../errors.ts'
import { deletePush, getPush, listPush, setPush } from '../operations/push.ts'
import { send, stream } from '../operations/send.ts'
import { cancelTask, getTask, listTasks, subscribe } from '../operations/tasks.ts'
import type { A2AContext } from '../options.ts'
import { postRpc } from './post.ts'

const ask = postRpc({
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

/** `POST /a2a/{assistant_id}`. */
export const postMessage = async (context: A2AContext, call: FaceCall): Promise<Response> =>
  ask(...(await withAssistant(context, call)))

/** The call with the graph id of its assistant. Throws 404 for an unknown assistant. */
async function withAssistant(context: A2AContext, call: FaceCall): Promise<readonly [A2AContext, FaceCall]> {
  const { agents } = context.engine
  const { graphId, assistant } = await namedAssistant(
    context.engine,
    // The method determines the permission, which is checked later and may hide the assistant.
    withoutMetadataFilter(call.principal),
    call.params.assistant_id ?? '',
  )
  if (graphId !== undefined && agents.has(graphId))
    return [
      { ...context, assistant },
      { ...call, params: { assistant_id: graphId } },
    ]
  throw noSuchAssistant(context.engine)
}
