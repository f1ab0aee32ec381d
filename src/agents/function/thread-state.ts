import { uuid7 } from '../../ids.ts'
import type {
  Agent,
  HistoryOptions,
  SnapshotTask,
  StateAddress,
  StateSnapshot,
  StateUpdate,
} from '../agent.ts'
import { AgentInputError } from '../errors.ts'
import { configOf, createCheckpointChain, type Loaded, load, type Place } from './checkpoints.ts'
import { INPUT, INTERRUPT, JOURNAL, journalOf, savedInterrupts } from './journal.ts'
import { NODE } from './namespace-state.ts'
import { toSnapshot } from './snapshot.ts'
import { own, publicState, reduce } from './state.ts'

const START = '__start__'

/** The state of a thread, read and written between runs. */
export const threadState: Pick<Agent, 'getState' | 'getHistory' | 'updateState'> = {
  async getState(at, { subgraphs = false } = {}) {
    const place = placeOf(at)
    const loaded = await load(place, at.checkpointId)
    if (!loaded) return undefined
    const snapshot = toSnapshot(loaded.tuple)
    if (!subgraphs) return snapshot
    const tasks = await Promise.all(snapshot.tasks.map((task) => withState(place, loaded, task)))
    return { ...snapshot, tasks }
  },

  async *getHistory(at: StateAddress, options: HistoryOptions = {}): AsyncGenerator<StateSnapshot> {
    const { limit = Number.POSITIVE_INFINITY, before, filter } = options
    const place = placeOf(at)
    const query = {
      ...(Number.isFinite(limit) && at.checkpointId === undefined && { limit }),
      ...(before !== undefined && { before: configOf(place, before) }),
      ...(filter !== undefined && { filter: { ...filter } }),
    }
    let left = limit
    if (left <= 0) return
    for await (const tuple of at.checkpointer.list(configOf(place), query)) {
      if (at.checkpointId !== undefined && tuple.checkpoint.id > at.checkpointId) continue
      yield toSnapshot(tuple)
      if (--left <= 0) return
    }
  },

  async updateState(at: StateAddress, { values, asNode }: StateUpdate) {
    if (asNode !== undefined && asNode !== START && asNode !== NODE) {
      throw new AgentInputError(
        `This agent has no node ${JSON.stringify(asNode)}. It has ${NODE} and ${START}.`,
      )
    }
    const place = placeOf(at)
    const base = await load(place, at.checkpointId)
    if (!base && at.checkpointId !== undefined)
      throw new AgentInputError(`There is no checkpoint ${at.checkpointId}.`)
    const state = reduce(base ? publicState(base.channels) : {}, values, uuid7)
    const timeline = createCheckpointChain(place, base)
    const channels =
      asNode === START ? { [INPUT]: own(values ?? {}) } : asNode === NODE ? {} : unfinished(base)
    const { id } = await timeline.put({ ...state, ...channels }, { source: 'update' })
    // An update from outside leaves the questions open that the run has asked.
    if (asNode === undefined && base) {
      for (const question of savedInterrupts(base.tuple)) {
        await timeline.putWrites(question.id, [[INTERRUPT, question]])
      }
    }
    return { checkpointId: id }
  },
}

function placeOf({ checkpointer, threadId, checkpointNs = '' }: StateAddress): Place {
  return { checkpointer, threadId, namespace: checkpointNs }
}

/** What the unfinished run of a checkpoint needs to go on from the next one. */
function unfinished(base: Loaded | undefined): Readonly<Record<string, unknown>> {
  const input = base?.channels[INPUT]
  if (!base || input === undefined) return {}
  return { [INPUT]: input, [JOURNAL]: base.channels[JOURNAL] ?? own(journalOf(base.channels, base.id)) }
}

/** A task with the state of the subagent it waits for. */
async function withState(place: Place, { channels, id }: Loaded, task: SnapshotTask): Promise<SnapshotTask> {
  const namespace = task.checkpoint?.checkpointNs
  const child = namespace === undefined ? undefined : journalOf(channels, id).children[namespace]
  const loaded = child === undefined ? undefined : await load({ ...place, namespace: namespace! }, child)
  return loaded ? { ...task, state: toSnapshot(loaded.tuple) } : task
}
