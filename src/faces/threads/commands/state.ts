import { type RunTree, readTree } from '../../../engine/index.ts'
import { ProtocolError } from '../errors.ts'
import { getTreeSchema, listCheckpointsSchema, stateGetSchema } from '../wire.ts'
import { type Command, type CommandResult, namespaceKey, parse, requireThread } from './command.ts'

/** `state.get`: all values of a namespace, or those of the given keys. */
export async function stateGet(command: Command): Promise<CommandResult> {
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
export async function listCheckpoints(command: Command): Promise<CommandResult> {
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
export async function getTree(command: Command): Promise<CommandResult> {
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
