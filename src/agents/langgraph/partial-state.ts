import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import type { SaverHook } from '../../storage/checkpointer/hooks.ts'
import type { AgentTask, StateAddress, StateSnapshot } from '../agent.ts'
import { configOf, uuid6 } from '../checkpoint-config.ts'
import {
  beforePartial,
  callsOfGraph,
  cancelledResults,
  isResult,
  missingResults,
  PARTIAL,
  partialMessage,
} from '../open-calls.ts'
import type { Translator } from './events.ts'
import type { Graph } from './graph.ts'
import { withVersions } from './saver-views.ts'
import { ERROR, INTERRUPT, RESUME, refusal } from './snapshot.ts'
import { stateOf } from './state.ts'

type Unsaved = ReturnType<Translator['unsaved']>

/**
 * Adds unfinished messages of the nodes to the state, and a result for each tool call without one, in a
 * checkpoint after the newest one with the same next nodes and tasks. Returns its events.
 *
 * Adds nothing if a node of the step waits for an answer. If one has ended, its other messages belong to the
 * previous checkpoint, and only results of calls are added.
 */
export async function keepPartial(
  { threadId, checkpointer }: Pick<AgentTask, 'threadId' | 'checkpointer'>,
  { checkpointId, messages }: Unsaved,
  readState: (at: StateAddress) => Promise<StateSnapshot | undefined>,
): Promise<readonly AgentEvent[]> {
  if (checkpointId === undefined) return []
  // Until the run's own checkpoint is saved, the newest one may belong to another branch.
  const tuple =
    (await checkpointer.getTuple(configOf({ threadId, checkpointId }))) &&
    (await checkpointer.getTuple(configOf({ threadId })))
  if (!tuple) return []
  const { checkpoint, metadata, pendingWrites = [] } = tuple
  const { messages: before } = checkpoint.channel_values
  if (!Array.isArray(before) || pendingWrites.some(([, channel]) => channel === INTERRUPT)) return []
  const known = new Set(before.map((message: { readonly id?: unknown } | null) => message?.id))
  const results = writtenResults(pendingWrites)
  const texts = pendingWrites.length > 0 ? [] : messages.filter(({ id }) => !known.has(id))
  const added = [
    ...results,
    ...cancelledResults(before, callsOfGraph, results),
    ...texts.flatMap(({ id, text, name, isFinished }) => partialMessage(id, text, name, isFinished) ?? []),
  ]
  if (added.length === 0) return []
  const id = uuid6(checkpoint.id)
  const version = versionAfter(checkpointer, Object.values(checkpoint.channel_versions))
  const step = (metadata?.step ?? 0) + 1
  await checkpointer.put(
    tuple.config,
    {
      ...checkpoint,
      id,
      ts: new Date().toISOString(),
      channel_values: { ...checkpoint.channel_values, messages: [...before, ...added] },
      channel_versions: { ...checkpoint.channel_versions, messages: version },
    },
    { ...metadata, source: 'update', step, parents: {}, ...PARTIAL },
    { messages: version },
  )
  const state = await readState({ threadId, checkpointer })
  const data = { id, parent_id: checkpoint.id, step, source: 'update' } as const
  return [
    { method: 'checkpoints', namespace: [], data },
    { method: 'values', namespace: [], data: state?.values ?? {} },
  ]
}

/** The results of tools that have ended while others of their step have not. */
export const writtenResults = (pendingWrites: NonNullable<CheckpointTuple['pendingWrites']>) =>
  pendingWrites.flatMap(([, channel, value]) =>
    channel === 'messages' ? [value].flat().filter(isResult) : [],
  )

function versionAfter(checkpointer: Checkpointer, versions: readonly (number | string)[]): number | string {
  // biome-ignore lint/complexity/useMathMinMax: the versions of some savers are text
  const newest = versions.reduce((one, other) => (other > one ? other : one), versions[0] ?? 0)
  const saver = withVersions(checkpointer) as Checkpointer & {
    getNextVersion(version: number | string): number | string
  }
  return saver.getNextVersion(newest)
}

/**
 * When a run without input continues a cancelled run, the head is the checkpoint before the one that the
 * cancel added, because the cancelled nodes run again. With the added checkpoint's id, LangGraph would also
 * repeat the nodes that had ended.
 */
export async function continuing(task: AgentTask): Promise<SaverHook | undefined> {
  const { threadId, checkpointer, checkpointId, start } = task
  if (checkpointId !== undefined || start.kind !== 'input' || (start.value ?? null) !== null) return undefined
  const before = beforePartial(await checkpointer.getTuple(configOf({ threadId })))
  return before === undefined ? undefined : withHead(configOf({ threadId, checkpointId: before }))
}

/** An earlier checkpoint is the head until the run has written one. */
function withHead(head: CheckpointConfig): SaverHook {
  let hasWritten = false
  const isRoot = ({ configurable }: CheckpointConfig) => !configurable?.checkpoint_ns
  return {
    async put(put, config, ...rest) {
      const saved = await put(config, ...rest)
      hasWritten ||= isRoot(config)
      return saved
    },
    getTuple: (getTuple, config) =>
      getTuple(
        hasWritten || !isRoot(config) || config.configurable?.checkpoint_id !== undefined ? config : head,
      ),
  }
}

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
