import { uuid7 } from '../../core/ids.ts'
import type { Fields } from '../../messages/record.ts'
import type { CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import { readOnly } from '../../storage/checkpointer/config.ts'
import type {
  Agent,
  HistoryOptions,
  SnapshotTask,
  StateAddress,
  StateSnapshot,
  StateUpdate,
  StepUpdate,
} from '../agent.ts'
import { configOf, listTuples, refOf } from '../checkpoint-config.ts'
import { AgentInputError } from '../errors.ts'
import { toJson } from '../to-json.ts'
import { type Channels, createCheckpointChain, type LoadedCheckpoint, loadCheckpoint } from './checkpoints.ts'
import { channelsOf, entriesOf } from './journal/call-log.ts'
import {
  derivedId,
  ERROR,
  finishedTasks,
  INITIAL,
  INPUT,
  initialOf,
  JOURNAL,
  journalOf,
  type SavedInterrupt,
  savedInterrupts,
  saveInterrupts,
  writesTo,
} from './journal/journal.ts'
import { NODE } from './namespace-state.ts'
import { frozenCopy, publicState, reduce } from './state.ts'

const START = '__start__'

export const threadState: Required<
  Pick<Agent, 'getState' | 'getHistory' | 'updateState' | 'bulkUpdateState'>
> = {
  async getState(at, { subgraphs = false } = {}) {
    const tuple = await at.checkpointer.getTuple(readOnly(configOf(at)))
    if (!tuple) return undefined
    const snapshot = toSnapshot(tuple)
    if (!subgraphs) return snapshot
    const tasks = await Promise.all(snapshot.tasks.map((task) => withState(at, tuple, task)))
    return { ...snapshot, tasks }
  },

  async *getHistory(at: StateAddress, options: HistoryOptions = {}): AsyncGenerator<StateSnapshot> {
    for await (const tuple of listTuples(at, options)) yield toSnapshot(tuple)
  },

  async bulkUpdateState(at: StateAddress, steps: readonly (readonly StepUpdate[])[]) {
    let checkpointId = at.checkpointId
    for (const update of steps.flat()) {
      if (update.command?.goto != null || update.command?.resume != null)
        throw new AgentInputError('This agent has no nodes, so a command can only have `update`.')
      // In graphs, a separate node represents the input of a run. A function only has the values.
      const asNode = update.asNode === '__input__' ? undefined : update.asNode
      const values = update.command?.update ?? update.values
      checkpointId = (await threadState.updateState({ ...at, checkpointId }, { values, asNode })).checkpointId
    }
    if (checkpointId === undefined) throw new AgentInputError('The list of updates is empty.')
    return { checkpointId }
  },

  async updateState(at: StateAddress, { values, asNode }: StateUpdate) {
    if (asNode !== undefined && asNode !== START && asNode !== NODE) {
      throw new AgentInputError(
        `This agent has no node ${JSON.stringify(asNode)}. It has ${NODE} and ${START}.`,
      )
    }
    const base = await loadCheckpoint(at)
    if (!base && at.checkpointId !== undefined)
      throw new AgentInputError(`Checkpoint ${at.checkpointId} does not exist.`)
    const state = reduce(base ? publicState(base.channels) : {}, values, uuid7)
    const chain = createCheckpointChain(at, base)
    const channels =
      asNode === START
        ? { [INPUT]: frozenCopy(values ?? {}) }
        : asNode === NODE
          ? {}
          : unfinishedChannels(base)
    const { id } = await chain.put({ ...state, ...channels }, { source: 'update' })
    // Without a node, an update keeps the interrupts of the run pending.
    if (asNode === undefined && base) await saveInterrupts(chain, savedInterrupts(base.tuple))
    return { checkpointId: id }
  },
}

/** The channels with which an unfinished run can continue from the next checkpoint. */
function unfinishedChannels(base: LoadedCheckpoint | undefined): Fields {
  if (!base) return {}
  const calls = channelsOf(entriesOf(base.channels))
  const input = base.channels[INPUT]
  if (input === undefined) return calls
  return {
    ...calls,
    [INPUT]: input,
    [INITIAL]: initialOf(base.channels),
    [JOURNAL]: base.channels[JOURNAL] ?? frozenCopy(journalOf(base.channels, base.id)),
  }
}

async function withState(
  at: StateAddress,
  { checkpoint }: CheckpointTuple,
  task: SnapshotTask,
): Promise<SnapshotTask> {
  const { checkpointNs = '' } = task.checkpoint ?? {}
  const checkpointId = journalOf(checkpoint.channel_values, checkpoint.id).children[checkpointNs]
  const tuple =
    checkpointId && (await at.checkpointer.getTuple(configOf({ ...at, checkpointNs, checkpointId })))
  return tuple ? { ...task, state: toSnapshot(tuple) } : task
}

/** A checkpoint as LangGraph would show it for a graph with one node. */
function toSnapshot(tuple: CheckpointTuple): StateSnapshot {
  const { checkpoint, config, parentConfig, metadata } = tuple
  const channels = checkpoint.channel_values
  const unfinished = channels[INPUT] !== undefined
  return {
    values: toJson(publicState(channels)) as Fields,
    next: unfinished ? [NODE] : [],
    tasks: unfinished ? tasksOf(tuple, channels) : [],
    metadata: toJson(metadata ?? {}) as Fields,
    createdAt: checkpoint.ts,
    checkpoint: refOf(config),
    parentCheckpoint: parentConfig ? refOf(parentConfig) : null,
  }
}

function tasksOf(tuple: CheckpointTuple, channels: Channels): readonly SnapshotTask[] {
  const interrupts = savedInterrupts(tuple)
  const threadId = String(tuple.config.configurable?.thread_id)
  const [failure] = writesTo(ERROR, tuple)
  const self: SnapshotTask = {
    ...EMPTY,
    id: derivedId(journalOf(channels, tuple.checkpoint.id).seed, NODE),
    name: NODE,
    path: ['__pregel_pull', NODE],
    error: failure ? String(failure[2]) : null,
    interrupts: interrupts.filter(({ namespace }) => namespace.length === 0).map(toPending),
  }
  const finished = finishedTasks(tuple).map(({ id, callIndex, messages }): SnapshotTask => {
    return { ...callTask(id, callIndex), result: { messages: toJson(messages) } }
  })
  return [self, ...waitingTasks(interrupts, threadId), ...finished]
}

/** One task for each call of the run that contains a pending interrupt, at any depth. */
function waitingTasks(interrupts: readonly SavedInterrupt[], threadId: string): readonly SnapshotTask[] {
  const segments = new Set(interrupts.flatMap(({ namespace }) => namespace.slice(0, 1)))
  return [...segments].map((segment) => {
    const inside = interrupts.filter(({ namespace }) => namespace[0] === segment)
    const checkpoint = { threadId, checkpointId: '', checkpointNs: segment, checkpointMap: null }
    const task = callTask(segment.slice(segment.indexOf(':') + 1), inside[0]?.callIndex ?? 0)
    return { ...task, interrupts: inside.map(toPending), checkpoint }
  })
}

const EMPTY = { error: null, interrupts: [], checkpoint: null, state: null, result: null } as const

function callTask(id: string, callIndex: number): SnapshotTask {
  return { ...EMPTY, id, name: 'tools', path: ['__pregel_push', callIndex] }
}

const toPending = ({ id, value }: SavedInterrupt) => ({ id, value: toJson(value) })
