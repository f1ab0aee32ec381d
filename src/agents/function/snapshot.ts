import type { CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { CheckpointRef, SnapshotTask, StateSnapshot } from '../agent.ts'
import { toJson } from '../to-json.ts'
import type { Channels } from './checkpoints.ts'
import { derivedId } from './ids.ts'
import { ERROR, finishedTasks, INPUT, journalOf, type SavedInterrupt, savedInterrupts } from './journal.ts'
import { NODE } from './namespace-state.ts'
import { publicState } from './state.ts'

/** A checkpoint, seen as LangGraph shows the state of a graph with one node. */
export function toSnapshot(tuple: CheckpointTuple): StateSnapshot {
  const { checkpoint, config, parentConfig, metadata } = tuple
  const channels = checkpoint.channel_values
  const unfinished = channels[INPUT] !== undefined
  return {
    values: toJson(publicState(channels)) as Readonly<Record<string, unknown>>,
    next: unfinished ? [NODE] : [],
    tasks: unfinished ? tasksOf(tuple, channels) : [],
    metadata: toJson(metadata ?? {}) as Readonly<Record<string, unknown>>,
    createdAt: checkpoint.ts,
    checkpoint: refOf(config),
    parentCheckpoint: parentConfig ? refOf(parentConfig) : null,
  }
}

function tasksOf(tuple: CheckpointTuple, channels: Channels): readonly SnapshotTask[] {
  const open = savedInterrupts(tuple)
  const threadId = String(tuple.config.configurable?.thread_id)
  const failure = tuple.pendingWrites?.find(([, channel]) => channel === ERROR)
  const self: SnapshotTask = {
    ...BLANK,
    id: derivedId(journalOf(channels, tuple.checkpoint.id).seed, NODE),
    name: NODE,
    path: ['__pregel_pull', NODE],
    error: failure ? String(failure[2]) : null,
    interrupts: open.filter(({ namespace }) => namespace.length === 0).map(asked),
  }
  const finished = finishedTasks(tuple).map(({ id, callIndex, messages }): SnapshotTask => {
    return { ...callTask(id, callIndex), result: { messages: toJson(messages) } }
  })
  return [self, ...waitingTasks(open, threadId), ...finished]
}

/** One task for each call of the run in which something waits, however deep. */
function waitingTasks(open: readonly SavedInterrupt[], threadId: string): readonly SnapshotTask[] {
  const segments = new Set(open.flatMap(({ namespace }) => namespace.slice(0, 1)))
  return [...segments].map((segment) => {
    const inside = open.filter(({ namespace }) => namespace[0] === segment)
    const checkpoint = { threadId, checkpointId: '', checkpointNs: segment, checkpointMap: null }
    const task = callTask(segment.slice(segment.indexOf(':') + 1), inside[0]?.callIndex ?? 0)
    return { ...task, interrupts: inside.map(asked), checkpoint }
  })
}

const BLANK = { error: null, interrupts: [], checkpoint: null, state: null, result: null } as const

function callTask(id: string, callIndex: number): SnapshotTask {
  return { ...BLANK, id, name: 'tools', path: ['__pregel_push', callIndex] }
}

const asked = ({ id, value }: SavedInterrupt) => ({ id, value: toJson(value) })

function refOf({ configurable = {} }: CheckpointTuple['config']): CheckpointRef {
  return {
    threadId: String(configurable.thread_id),
    checkpointId: String(configurable.checkpoint_id),
    checkpointNs: String(configurable.checkpoint_ns ?? ''),
    checkpointMap: null,
  }
}
