import { withoutMetadataFilter } from '../../core/principal.ts'
import { namedAssistant } from '../kit/assistants.ts'
import { type FaceCall, type FaceRow, type RouteFields, route } from '../kit/routes.ts'
import { extendedCard, getCard } from './card/get-card.ts'
import { WELL_KNOWN } from './card/options.ts'
import { noSuchAssistant } from './errors.ts'
import { deletePush, getPush, listPush, setPush } from './operations/push.ts'
import { send, stream } from './operations/send.ts'
import { cancelTask, getTask, listTasks, subscribe } from './operations/tasks.ts'
import type { A2AContext } from './options.ts'
import { postRpc } from './rpc/post.ts'

const card: RouteFields<A2AContext, undefined> = {
  permission: 'public',
  summary: 'Get the agent card.',
  answers: {
    200: {
      type: 'object',
      properties: { name: { type: 'string' }, version: { type: 'string' }, skills: { type: 'array' } },
      required: ['name', 'version', 'skills'],
    },
  },
  run: getCard,
}

const id = { type: ['string', 'integer', 'null'] }
const jsonrpc = { const: '2.0' }

export const ROUTES: readonly FaceRow<A2AContext>[] = [
  route('POST', '/a2a/:assistant_id', {
    // Each method has its own permission. The A2A specification describes the params and results.
    permission: null,
    summary: 'Call a method of A2A 0.3 or 1.0 over JSON-RPC.',
    body: () => ({
      type: 'object',
      properties: { jsonrpc, id, method: { type: 'string', minLength: 1 }, params: {} },
      required: ['jsonrpc', 'id', 'method'],
    }),
    answers: {
      200: {
        type: 'object',
        properties: { jsonrpc, id, result: {}, error: { type: 'object' } },
        required: ['jsonrpc', 'id'],
        oneOf: [{ required: ['result'] }, { required: ['error'] }],
      },
    },
    streams: true,
    run: postMessage,
  }),
  route('GET', '/a2a/:assistant_id', card),
  route('GET', `/a2a/:assistant_id${WELL_KNOWN}`, card),
  route('GET', WELL_KNOWN, card),
]

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
async function postMessage(context: A2AContext, call: FaceCall): Promise<Response> {
  return ask(...(await withAssistant(context, call)))
}

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
