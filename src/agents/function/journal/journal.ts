import { formatUuid } from '../../../core/ids.ts'
import type { CheckpointTuple } from '../../../storage/checkpointer/checkpointer.ts'
import type { Channels, CheckpointChain } from '../checkpoints.ts'
import { publicState, type State } from '../state.ts'

/**
 * The channel with the raw input of an unfinished run. Only a checkpoint with this channel can be continued.
 */
export const INPUT = '__input__'
export const INITIAL = '__initial__'
export const JOURNAL = '__run__'
const INTERRUPT = '__interrupt__'
export const ERROR = '__error__'
/** The channel of pending writes with the positions of failed calls that the next attempt repeats. */
export const RETRIED = '__retried__'
const MESSAGES = 'messages'
const CALL_INDEX = '__call_index__'

export interface Answer {
  readonly value: unknown
  /** The digest of the question. */
  readonly given: string
}

/**
 * What the second attempt of a run needs from the first. All checkpoints of an unfinished run except the
 * first have it.
 */
export interface RunJournal {
  /** The id of the run's first checkpoint. All ids of the run are derived from it. */
  readonly seed: string
  /** The answers so far, by the path of their interrupt. */
  readonly answers: Readonly<Record<string, Answer>>
  /** The number of `custom` events that each scope sent. */
  readonly customs: Readonly<Record<string, number>>
  /** The newest checkpoint of each subagent, by namespace. */
  readonly children: Readonly<Record<string, string>>
}

/** The state at the start of a checkpoint's run. For the run's first checkpoint, its own state. */
export const initialOf = (channels: Channels): State =>
  (channels[INITIAL] as State | undefined) ?? publicState(channels)

export function journalOf(channels: Channels, checkpointId: string): RunJournal {
  const journal = channels[JOURNAL] as RunJournal | undefined
  return journal ?? { seed: checkpointId, answers: {}, customs: {}, children: {} }
}

export type OpenJournal = ReturnType<typeof openJournal>

export function openJournal(first: RunJournal) {
  const counts = new Map<string, number>()
  let journal = first
  let written = first
  return {
    child: (namespace: string): string | undefined => journal.children[namespace],
    setChild(namespace: string, checkpointId: string): void {
      journal = { ...journal, children: { ...journal.children, [namespace]: checkpointId } }
    },
    /** Whether an earlier attempt did not send the next `custom` event of this scope. Counts the event. */
    isNewCustom(scope: string): boolean {
      const count = (counts.get(scope) ?? 0) + 1
      counts.set(scope, count)
      if (count <= (journal.customs[scope] ?? 0)) return false
      journal = { ...journal, customs: { ...journal.customs, [scope]: count } }
      return true
    },
    /**
     * Takes the journal for a checkpoint. It counts `custom` events up to this call. The children are read
     * when the result is called, because by then the earlier commits of subagents are written.
     */
    take(): () => RunJournal {
      const { customs } = journal
      return () => (written = { ...journal, customs })
    },
    hasChanged: () => journal.customs !== written.customs || journal.children !== written.children,
  }
}

export interface SavedInterrupt {
  readonly id: string
  readonly value: unknown
  /** The path of the `interrupt` call in the function. */
  readonly path: string
  readonly given: string
  readonly namespace: readonly string[]
  readonly order: number
  /** The index of the outermost enclosing tool call in its assistant message. */
  readonly callIndex?: number
}

export function savedInterrupts(tuple: CheckpointTuple): readonly SavedInterrupt[] {
  return writesTo(INTERRUPT, tuple)
    .map(([, , value]) => value as SavedInterrupt)
    .sort((a, b) => a.order - b.order)
}

export function writesTo(channel: string, { pendingWrites = [] }: CheckpointTuple) {
  return pendingWrites.filter((write) => write[1] === channel)
}

/** The positions of calls that caused a failure. The next attempt repeats them. */
export const retriedCalls = (tuple: CheckpointTuple): ReadonlySet<string> =>
  new Set(writesTo(RETRIED, tuple).flatMap(([, , paths]) => paths as string[]))

export async function saveInterrupts(
  chain: CheckpointChain,
  interrupts: readonly SavedInterrupt[],
): Promise<void> {
  for (const interrupt of interrupts) await chain.putWrites(interrupt.id, [[INTERRUPT, interrupt]])
}

/** The pending writes with a subagent's answer. `finishedTasks` reads them. */
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

export function finishedTasks(tuple: CheckpointTuple): readonly FinishedTask[] {
  const indexes = new Map(writesTo(CALL_INDEX, tuple).map(([id, , index]) => [id, index]))
  return writesTo(MESSAGES, tuple)
    .filter(([id]) => indexes.has(id))
    .map(([id, , messages]) => ({ id, callIndex: indexes.get(id) as number, messages }))
}

/**
 * The id for `path` in a run. It depends only on `seed` (a UUID) and `path`, so that a repeated call gets the
 * same id. It has the format of a UUID.
 */
export function derivedId(seed: string, path: string): string {
  const digits = seed.replaceAll('-', '').padEnd(16, '0')
  const [high, low] = hash(`${seed}/${path}`)
  const tail = high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
  return formatUuid(`${digits.slice(0, 16)}a${tail.slice(1)}`)
}

/** A hash of a JSON value, for comparison. */
export const digestOf = (value: unknown): string =>
  hash(JSON.stringify([value]))
    .map((half) => half.toString(16).padStart(8, '0'))
    .join('')

/** A 64-bit hash that depends on every character: two multiplicative hashes that are mixed at the end. */
function hash(text: string): readonly [number, number] {
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x5bd1e995) ^ (b >>> 15)
  }
  a = Math.imul(a ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (a >>> 16), 0x27d4eb2f)
  return [(a ^ (b >>> 11)) >>> 0, (b ^ (a >>> 14)) >>> 0]
}
