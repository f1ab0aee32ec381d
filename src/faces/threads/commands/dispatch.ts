import { AgentwireError } from '../../../core/errors.ts'
import { json, originOf } from '../../../core/http/index.ts'
import { nearest } from '../../../core/nearest.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import { internalsOf, type RunTree, readTree } from '../../../engine/index.ts'
import { permit, type ThreadAction } from '../../kit/access.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { bodyOf } from '../../kit/body.ts'
import type { Answer } from '../../kit/errors.ts'
import { commandKey } from '../../kit/idempotency-key.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { ThreadsContext } from '../context.ts'
import { answerOfError, ProtocolError } from '../errors.ts'
import { commandSchema, getTreeSchema, listCheckpointsSchema, stateGetSchema } from '../wire.ts'
import {
  type Command,
  type CommandFunction,
  type CommandResult,
  namespaceKey,
  parse,
  requireThread,
} from './command.ts'
import { inputInject, inputRespond, runStart, stateFork } from './runs.ts'

/** `state.get`: all values of a namespace, or those of the given keys. */
async function stateGet(command: Command): Promise<CommandResult> {
  const { namespace, keys } = parse(stateGetSchema, command.params)
  const thread = await requireThread(command)
  const checkpointNs = namespaceKey(namespace)
  const snapshot = await command.engine.readState(thread, { checkpointNs })
  if (!snapshot) {
    if (checkpointNs === '') return { result: { values: {} } }
    throw new ProtocolError(
      'no_such_namespace',
      `Namespace ${JSON.stringify(namespace)} has no state on this thread.`,
    )
  }
  const wanted = keys && new Set(keys)
  const values = wanted
    ? Object.fromEntries(Object.entries(snapshot.values).filter(([key]) => wanted.has(key)))
    : snapshot.values
  const { checkpointId: id, checkpointNs: ns } = snapshot.checkpoint
  return { result: { values, checkpoint: { id, ns } } }
}

/**
 * `state.listCheckpoints`: newest first. `parent_id` is an extension: it lets clients draw the branches
 * without reading every state.
 */
async function listCheckpoints(command: Command): Promise<CommandResult> {
  const { namespace, limit = 100, before } = parse(listCheckpointsSchema, command.params)
  const thread = await requireThread(command)
  const checkpoints: unknown[] = []
  const history = command.engine.readHistory(
    thread,
    { checkpointNs: namespaceKey(namespace) },
    { limit, before },
  )
  for await (const { checkpoint, parentCheckpoint, createdAt, metadata, next } of history) {
    checkpoints.push({
      id: checkpoint.checkpointId,
      ...(parentCheckpoint && { parent_id: parentCheckpoint.checkpointId }),
      timestamp: createdAt,
      step: metadata.step,
      ...(next[0] !== undefined && { node_name: next[0] }),
      metadata,
    })
  }
  return { result: { checkpoints } }
}

/** `agent.getTree`: the agents of a run. Default: the newest run. */
async function getTree(command: Command): Promise<CommandResult> {
  const { run_id } = parse(getTreeSchema, command.params)
  const thread = await requireThread(command)
  const runId = run_id ?? thread.lastRunId
  const tree = runId === null ? undefined : await readTree(command.engine, thread, runId)
  if (!tree) throw new ProtocolError('no_such_run', 'Run not found on this thread.')
  return { result: { tree: presentTree(tree) } }
}

const presentTree = ({ namespace, status, graphName, children }: RunTree): Record<string, unknown> => ({
  namespace,
  status,
  graph_name: graphName,
  ...(children.length > 0 && { children: children.map(presentTree) }),
})

/** A command's permission, which is checked before anything is read, and its function. */
type CommandRow = readonly [action: ThreadAction, run: CommandFunction]

const COMMANDS: ReadonlyMap<string, CommandRow> = new Map([
  ['run.start', ['runs:create', runStart]],
  ['input.respond', ['runs:create', inputRespond]],
  ['input.inject', ['threads:update', inputInject]],
  ['state.get', ['threads:read', stateGet]],
  ['state.listCheckpoints', ['threads:read', listCheckpoints]],
  ['state.fork', ['runs:create', stateFork]],
  ['agent.getTree', ['threads:read', getTree]],
])

const overSocket = async (): Promise<never> => {
  throw new ProtocolError(
    'not_supported',
    'Subscriptions need a web socket. Over HTTP, POST the filter to …/stream/events.',
  )
}

const NO_SUBSCRIPTIONS: TransportCommands = new Map([
  ['subscription.subscribe', overSocket],
  ['subscription.unsubscribe', overSocket],
  ['subscription.reconnect', overSocket],
])

/** Commands of a transport, in addition to those of the thread. They need no permission of their own. */
export type TransportCommands = ReadonlyMap<string, (params: unknown) => Promise<CommandResult>>

/**
 * `POST …/commands`: answers one command with `CommandResponse` or `ErrorResponse` of the protocol. A
 * rejected command gets HTTP 200; only a body that is not a command gets 400.
 */
export async function postCommand(context: ThreadsContext, call: FaceCall): Promise<Response> {
  const answer = await answerCommand(context, call, NO_SUBSCRIPTIONS)
  return json(answer.body, answer)
}

/** The answer to the command in the body of a call. A web socket makes one such call for each message. */
export async function answerCommand(
  context: ThreadsContext,
  call: FaceCall,
  more: TransportCommands,
): Promise<Answer> {
  let id: number | string | null = null
  try {
    const { id: given, method, params } = await bodyOf(commandSchema, call)
    id = given
    const thread_id = call.threadId
    const { result, appliedThroughSeq } = await context.commands.run(thread_id, () =>
      dispatch(context, call, { method, params, more }),
    )
    const meta =
      appliedThroughSeq === undefined ? { thread_id } : { thread_id, applied_through_seq: appliedThroughSeq }
    return { status: 200, body: { type: 'success', id, result, meta } }
  } catch (error) {
    const answer = answerOfError(id, error, context.onError, originOf(call.request, call.params))
    const code = error instanceof AgentwireError ? error.code : 'internal_error'
    const { method } = call.request
    internalsOf(context.engine).observe({
      type: 'request.refused',
      method,
      route: call.route,
      status: answer.status,
      code,
      at: Date.now(),
    })
    return answer
  }
}

async function dispatch(
  { engine, authorize }: ThreadsContext,
  call: FaceCall,
  {
    method,
    params,
    more,
  }: { readonly method: string; readonly params: unknown; readonly more: TransportCommands },
): Promise<CommandResult> {
  const { threadId } = call
  const row = COMMANDS.get(method)
  if (row) {
    const [action, run] = row
    const id = assistantIdOf(params)
    const asked = await namedAssistant(engine, withoutMetadataFilter(call.principal), id)
    const resource = { threadId, assistantId: asked.graphId }
    const { principal, json } = await permit(authorize, call, action, resource, async () => params)
    // The permission may hide an assistant.
    const named = asked.assistant ? await namedAssistant(engine, principal, id) : asked
    return run({
      engine,
      named,
      threadId,
      principal,
      params: await json(),
      request: call.request,
      traceparent: call.request.headers.get('traceparent'),
      key: () => commandKey(call, method, params),
    })
  }
  const own = more.get(method)
  if (own) return own(params)
  const meant = nearest(method, [...COMMANDS.keys(), ...more.keys()])
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  throw new ProtocolError('unknown_command', `Unknown command ${JSON.stringify(method)}.${hint}`)
}

/** The assistant id of a command. Read from unvalidated params, because the permission is checked first. */
function assistantIdOf(params: unknown): string | undefined {
  const { assistant_id, assistantId } = (params ?? {}) as Readonly<Record<string, unknown>>
  const named = assistant_id ?? assistantId
  return typeof named === 'string' ? named : undefined
}
