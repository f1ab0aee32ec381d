import type { Fields } from '../../messages/record.ts'
import type { Checkpoint, CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { HistoryOptions, SnapshotTask, StateAddress, StateSnapshot } from '../agent.ts'
import { configOf, listTuples, refOf } from '../checkpoint-config.ts'
import { toJson } from '../to-json.ts'
import type { GraphInterrupt } from './graph.ts'
import { answeredTasks, ERROR, errorOf, INTERRUPT, toPending, toValues } from './snapshot.ts'

/**
 * A snapshot of a namespace whose graph runs inside a tool, such as a subagent of a deep agent, so that it
 * cannot be found from the root. It is read from the checkpoint only: values and next nodes are complete. Of
 * the tasks, it only has those that wait at an interrupt or failed, by id.
 */
export function readUnknownGraph(tuple: CheckpointTuple): StateSnapshot {
  const { checkpoint, config, metadata, parentConfig } = tuple
  const next = nextNodes(checkpoint)
  return {
    values: toValues(stateOf(checkpoint.channel_values)),
    next,
    tasks: stoppedTasks(tuple, next),
    metadata: toJson({ ...metadata, thread_id: config.configurable?.thread_id }) as Record<string, unknown>,
    createdAt: checkpoint.ts,
    checkpoint: refOf(config),
    parentCheckpoint: parentConfig ? refOf(parentConfig) : null,
  }
}

/** The state of an agent that the server no longer has, from its checkpoint only. */
export async function readUnknownState(at: StateAddress): Promise<StateSnapshot | undefined> {
  const tuple = await at.checkpointer.getTuple(configOf(at))
  return tuple && readUnknownGraph(tuple)
}

/** The history of an agent that the server no longer has. */
export async function* readUnknownHistory(
  at: StateAddress,
  options: HistoryOptions,
): AsyncGenerator<StateSnapshot, void, undefined> {
  for await (const tuple of listTuples(at, options)) yield readUnknownGraph(tuple)
}

const ROOT = '__root__'
const TASKS = '__pregel_tasks'
const BRANCH = 'branch:to:'

/** The state without the engine's channels. */
function stateOf(channels: Fields): unknown {
  if (ROOT in channels) return channels[ROOT]
  return Object.fromEntries(
    Object.entries(channels).filter(
      ([name]) => !name.startsWith('__') && !name.startsWith(BRANCH) && !name.startsWith('join:'),
    ),
  )
}

/** The nodes that have not seen the newest write of their trigger, and the targets of `Send`. */
function nextNodes({ channel_values, channel_versions, versions_seen }: Checkpoint): readonly string[] {
  const triggered = Object.keys(channel_values)
    .filter((channel) => channel.startsWith(BRANCH))
    .filter((channel) => {
      const seen = versions_seen[channel.slice(BRANCH.length)]?.[channel]
      const written = channel_versions[channel]
      return written !== undefined && (seen === undefined || written > seen)
    })
    .map((channel) => channel.slice(BRANCH.length))
  return [...triggered, ...sends(channel_values[TASKS]).map(({ node }) => String(node))]
}

/**
 * The channel of sends contains a list. In older releases of LangGraph it contains two, the second with the
 * sends.
 */
function sends(channel: unknown): readonly { readonly node?: unknown }[] {
  if (!Array.isArray(channel)) return []
  return Array.isArray(channel[1]) ? channel[1] : channel
}

function stoppedTasks({ pendingWrites = [] }: CheckpointTuple, next: readonly string[]): SnapshotTask[] {
  const ids = new Set(pendingWrites.map(([taskId]) => taskId))
  const answered = answeredTasks(pendingWrites)
  return [...ids].flatMap((id) => {
    const writes = pendingWrites.filter(([taskId]) => taskId === id)
    const interrupts = writes
      .filter(([, channel]) => channel === INTERRUPT && !answered.has(id))
      .flatMap(([, , value]) => value as GraphInterrupt | GraphInterrupt[])
    const error = errorOf(writes.find(([, channel]) => channel === ERROR)?.[2])
    if (interrupts.length === 0 && error === null) return []
    return {
      id,
      name: next.length === 1 ? next[0]! : '',
      path: [],
      error,
      interrupts: interrupts.map(toPending),
      checkpoint: null,
      state: null,
      result: null,
    }
  })
}
