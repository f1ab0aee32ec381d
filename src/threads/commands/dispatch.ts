import { type Call, HttpError, json } from '../../http/index.ts'
import { ownerOf, permit, threadIdOf } from '../../requests/access.ts'
import { explain } from '../../requests/body.ts'
import { commandKey } from '../../requests/idempotency-key.ts'
import type { ThreadsContext } from '../context.ts'
import { encodeCommandError, ProtocolError } from '../errors.ts'
import { commandSchema } from '../wire.ts'
import type { CommandFunction } from './command.ts'
import { inputInject, inputRespond, runStart, stateFork } from './runs.ts'
import { getTree, listCheckpoints, stateGet } from './state.ts'

const COMMANDS: ReadonlyMap<string, CommandFunction> = new Map([
  ['run.start', runStart],
  ['input.respond', inputRespond],
  ['input.inject', inputInject],
  ['state.get', stateGet],
  ['state.listCheckpoints', listCheckpoints],
  ['state.fork', stateFork],
  ['agent.getTree', getTree],
])

const SUBSCRIPTIONS: ReadonlySet<string> = new Set([
  'subscription.subscribe',
  'subscription.unsubscribe',
  'subscription.reconnect',
])

/**
 * `POST …/commands`: one command in, its answer out (`CommandResponse` or `ErrorResponse` of the protocol). Refused commands
 * are HTTP 200; only a body that is no command at all is 400.
 */
export async function postCommand(context: ThreadsContext, call: Call): Promise<Response> {
  let id: number | string | null = null
  try {
    const command = commandSchema.safeParse(await call.json())
    if (!command.success) throw new HttpError(400, 'invalid_argument', explain(command.error))
    id = command.data.id
    const { result, appliedThroughSeq } = await dispatch(
      context,
      call,
      command.data.method,
      command.data.params,
    )
    const thread_id = call.params.thread_id
    const meta =
      appliedThroughSeq === undefined ? { thread_id } : { thread_id, applied_through_seq: appliedThroughSeq }
    return json({ type: 'success', id, result, meta })
  } catch (error) {
    return encodeCommandError(id, error, context.onError)
  }
}

function dispatch(context: ThreadsContext, call: Call, method: string, params: unknown) {
  const threadId = threadIdOf(call.params.thread_id)
  const run = COMMANDS.get(method)
  if (run) {
    return run({
      ...context,
      threadId,
      owner: ownerOf(call.principal),
      principal: call.principal,
      params,
      permit: (action, assistantId) => permit(context.authorize, call, action, { threadId, assistantId }),
      key: () => commandKey(call, method, params),
    })
  }
  if (SUBSCRIPTIONS.has(method)) {
    throw new ProtocolError(
      'not_supported',
      `${method} needs a WebSocket. Over HTTP, POST the filter to …/stream/events.`,
    )
  }
  throw new ProtocolError('unknown_command', `Unknown command ${JSON.stringify(method)}.`)
}
