import type { CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { SaverHook } from '../../storage/checkpointer/hooks.ts'
import type { AgentTask } from '../agent.ts'
import { configOf } from '../checkpoint-config.ts'
import { callsOfGraph, missingResults } from '../open-calls.ts'
import type { Graph } from './graph.ts'
import { writtenResults } from './partial.ts'
import { ERROR, RESUME, refusal } from './snapshot.ts'
import { stateOf } from './state.ts'

/** The task of pending writes that LangGraph applies before the input of a run. */
const BEFORE_INPUT = '00000000-0000-0000-0000-000000000000'

const MESSAGES = 'messages'

/**
 * The hook of a run with a new input. If the conversation ends with tool calls without a result, the engine
 * reads results for them as pending writes: it adds them to the messages with the channel's own reducer, and
 * saves them in the checkpoint of the input.
 */
export async function answering(graph: Graph, task: AgentTask): Promise<SaverHook | undefined> {
  const { checkpointer, threadId, checkpointId, start } = task
  if (graph.checkpointer === false || !graph.channels || !(MESSAGES in graph.channels)) return undefined
  const tuple = await checkpointer.getTuple(configOf({ threadId, checkpointId }))
  const { [MESSAGES]: input } = Object(start.kind === 'input' && start.value) as {
    readonly messages?: unknown
  }
  const messages = tuple && (await messagesOf(graph, task, tuple))
  const missing = missingResults(
    messages ?? [],
    callsOfGraph,
    input,
    writtenResults(tuple?.pendingWrites ?? []),
  )
  const write = missing.length > 0 && writeTo(graph.channels[MESSAGES], messages!, missing)
  const read: CheckpointTuple | undefined = write
    ? { ...tuple!, pendingWrites: [...(tuple!.pendingWrites ?? []), [BEFORE_INPUT, MESSAGES, write]] }
    : tuple
  return withFirstRead(checkpointId, read)
}

/** The messages at a checkpoint, which does not contain those of a `DeltaChannel`. */
async function messagesOf(
  graph: Graph,
  at: AgentTask,
  { checkpoint }: CheckpointTuple,
): Promise<readonly unknown[] | undefined> {
  const channel = graph.channels?.[MESSAGES] as Partial<Channel> | undefined
  const messages =
    channel?.lc_graph_name === 'DeltaChannel'
      ? (await stateOf(graph).getState({ ...at, config: undefined }))?.values.messages
      : checkpoint.channel_values.messages
  return Array.isArray(messages) ? messages : undefined
}

/** The part of LangGraph's channels that is used here. */
interface Channel {
  readonly lc_graph_name: string
  fromCheckpoint(value: unknown): Channel
  update(values: unknown[]): boolean
  get(): unknown
}

/**
 * What to write so that the channel has the results after its messages: the results alone, if its reducer
 * appends, or all messages. Undefined if the channel accepts neither.
 */
function writeTo(
  channel: unknown,
  messages: readonly unknown[],
  results: readonly unknown[],
): readonly unknown[] | undefined {
  return [results, [...messages, ...results]].find((write) => {
    const copy = (channel as Channel).fromCheckpoint(messages)
    copy.update([write])
    const after = copy.get()
    return Array.isArray(after) && after.length >= messages.length
  })
}

/** The first read of the run's starting point returns `tuple`. */
function withFirstRead(checkpointId: string | undefined, tuple: CheckpointTuple | undefined): SaverHook {
  let isFirst = true
  return {
    async getTuple(getTuple, config) {
      const { checkpoint_ns: namespace, checkpoint_id: id } = config.configurable ?? {}
      if (!isFirst || namespace || id !== checkpointId) return getTuple(config)
      isFirst = false
      return tuple
    },
  }
}

/**
 * A node that fails does not write its newest answer: the node may have refused it. The question stays open,
 * and another answer can be given. The engine would give the same one for ever.
 */
export const withoutRefusedAnswers: SaverHook = {
  putWrites(putWrites, config, writes, taskId) {
    const channels = new Set(writes.map(([channel]) => channel))
    // An error that a handler of the graph takes is not the end of the task.
    if (!channels.has(ERROR) || !channels.has(RESUME) || channels.has(HANDLED))
      return putWrites(config, writes, taskId)
    const kept = writes
      .filter(([channel]) => channel !== RESUME)
      .map(([channel, value]): (typeof writes)[number] => [
        channel,
        channel === ERROR ? refusal(value) : value,
      ])
    return putWrites(config, kept, taskId)
  },
}

/** The channel that names the node of an error for which the graph has a handler. */
const HANDLED = '__error_source_node__'
