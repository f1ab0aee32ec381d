import type { CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { Channels } from './checkpoints.ts'

/** Channel of the raw input of a run that has not finished. Where it is, the function is to run (again). */
export const INPUT = '__input__'
/** Channel of the run's journal. */
export const JOURNAL = '__run__'
export const INTERRUPT = '__interrupt__'
export const ERROR = '__error__'
const MESSAGES = 'messages'
const CALL_INDEX = '__call_index__'

/** What a second attempt must know of the first. Kept in the checkpoints of an unfinished run; absent in its first one. */
export interface RunJournal {
  /** The id of the run's first checkpoint. All ids of the run derive from it. */
  readonly seed: string
  /** The answers so far, by the path of the interrupt that asked. */
  readonly answers: Readonly<Record<string, unknown>>
  /** How many `custom` events each scope has sent. */
  readonly customs: Readonly<Record<string, number>>
  /** The newest checkpoint of each subagent, by namespace. */
  readonly children: Readonly<Record<string, string>>
}

export function journalOf(channels: Channels, checkpointId: string): RunJournal {
  const record = channels[JOURNAL] as RunJournal | undefined
  return record ?? { seed: checkpointId, answers: {}, customs: {}, children: {} }
}

/** An interrupt that waits for its answer, as it is kept with the checkpoint. */
export interface SavedInterrupt {
  readonly id: string
  readonly value: unknown
  /** Which call of the function asked. */
  readonly path: string
  /** Where it was raised. */
  readonly namespace: readonly string[]
  /** Its place among the questions of its attempt. */
  readonly order: number
  /** The place of the outermost tool call around it in its assistant message. */
  readonly callIndex?: number
}

export function savedInterrupts({ pendingWrites = [] }: CheckpointTuple): readonly SavedInterrupt[] {
  return pendingWrites
    .filter(([, channel]) => channel === INTERRUPT)
    .map(([, , value]) => value as SavedInterrupt)
    .sort((a, b) => a.order - b.order)
}

/** The answer of a subagent's call, kept with the checkpoint that the call was made at: `[taskId, …]` of `finishedTasks`. */
export function answerWrites(callIndex: number, answer: unknown): [channel: string, value: unknown][] {
  return [
    [MESSAGES, [answer]],
    [CALL_INDEX, callIndex],
  ]
}

export interface FinishedTask {
  readonly id: string
  readonly callIndex: number
  readonly messages: unknown
}

export function finishedTasks({ pendingWrites = [] }: CheckpointTuple): readonly FinishedTask[] {
  const indexes = new Map(
    pendingWrites.filter(([, channel]) => channel === CALL_INDEX).map(([id, , index]) => [id, index]),
  )
  return pendingWrites
    .filter(([id, channel]) => channel === MESSAGES && indexes.has(id))
    .map(([id, , messages]) => ({ id, callIndex: indexes.get(id) as number, messages }))
}
