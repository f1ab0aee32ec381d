import { AgentwireError } from '../../core/errors.ts'
import { decodeMessage, type Message, type WireMessage } from '../../messages/index.ts'
import type { Fields } from '../../messages/record.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type { ModelCall } from '../agent.ts'
import { causesOf } from '../errors.ts'
import { rememberRecent } from '../recent.ts'
import { type EventQueue, handled } from './event-queue.ts'
import {
  type CallIdentity,
  type CompletedCall,
  described,
  nondeterministicReplay,
} from './journal/call-log.ts'
import { type Answer, derivedId, type OpenJournal, type SavedInterrupt } from './journal/journal.ts'
import type { NamespaceState } from './namespace-state.ts'
import type { RunDetails } from './types.ts'

export interface Attempt {
  /** The id of the only task of a function that is shown as a graph. */
  readonly taskId: string
  readonly queue: EventQueue
  readonly journal: OpenJournal
  readonly interrupts: Interrupts
  readonly seed: string
  readonly runId: string
  readonly details: RunDetails
  /** The state of the run's own namespace. */
  readonly root: NamespaceState
  readonly subagents: readonly NamespaceState[]
  /** The unanswered interrupts of earlier attempts. They stay pending until this attempt ends. */
  readonly pending: readonly SavedInterrupt[]
  /** Set when a replay differs from earlier attempts. Every call then rejects with this error. */
  divergence: { readonly error: unknown } | undefined
  readonly signal: AbortSignal
  /** Reports a finished model call to the engine. */
  readonly onModelCall: ((call: ModelCall) => void) | undefined
  /** Calls of tools and subagents that have not settled. */
  readonly running: Set<Promise<unknown>>
  /** Namespaces that have started but not ended. */
  readonly started: Set<readonly string[]>
  openState(namespace: readonly string[]): Promise<NamespaceState>
}

/** A part of the function that numbers its own calls: the run, a subagent or a tool. */
export interface Scope {
  readonly attempt: Attempt
  readonly state: NamespaceState
  /** The namespace of this scope's interrupts. */
  readonly namespace: readonly string[]
  readonly path: string
  /** The index of the outermost enclosing call in its assistant message. */
  readonly callIndex?: number
  /** The calls of this turn of the event loop, which wait for the assistant message that they share. */
  batch: CallBatch | undefined
  readonly openWrites: Set<OpenWrite>
  /** Ends the text that a generator yields, which is a message. Called before any other call. */
  endText: (() => void) | undefined
  calls: number
  /** Set when an interrupt of this scope waits for its answer. A suspended scope writes nothing. */
  suspended: boolean
}

export interface CallBatch {
  readonly calls: { readonly id: string; readonly name: string; readonly args: Fields }[]
  /** Settles when the assistant message with the calls is published. */
  readonly announced: Promise<void>
}

export interface OpenWrite {
  /** The node of a message: see `freeSlot`. */
  readonly node?: number
  /** Ends it and adds it to the state. */
  end(): void
  /** Ends the message unfinished, with an event for its readers. */
  fail(reason: string): void
  /** Adds the part to keep to the state when the run is cancelled, and returns the events that end it. */
  cut(): readonly AgentEvent[]
}

export function createScope(
  attempt: Attempt,
  state: NamespaceState,
  place: { readonly path: string; readonly namespace?: readonly string[]; readonly callIndex?: number },
): Scope {
  return {
    attempt,
    state,
    namespace: state.namespace,
    ...place,
    batch: undefined,
    openWrites: new Set(),
    endText: undefined,
    calls: 0,
    suspended: false,
  }
}

/** The position of the next call: `0`, `1`, and `1/0`, … inside the latter. */
export function nextPath(scope: Scope): string {
  scope.endText?.()
  const count = scope.calls++
  return scope.path === '' ? `${count}` : `${scope.path}/${count}`
}

/** The same call in an earlier attempt, if it completed. Throws if it was a different call. */
export function replayedCall({ attempt, state }: Scope, call: CallIdentity): CompletedCall | undefined {
  try {
    const { path } = call
    const asked = attempt.interrupts.answered(path)
    if (asked && (call.kind !== 'interrupt' || call.given !== asked.given))
      throw nondeterministicReplay(
        `Call ${path} was ${described({ path, kind: 'interrupt', given: asked.given })} and is now ${described(call)}.`,
      )
    return state.log.replayed(call)
  } catch (error) {
    attempt.divergence ??= { error }
    throw error
  }
}

export const idOf = ({ attempt }: Scope, path: string): string => derivedId(attempt.seed, path)

/** An id that every provider accepts for a tool call: letters, digits and `_`, at most 40 characters. */
export const callIdOf = (scope: Scope, path: string): string =>
  `call_${idOf(scope, path).replaceAll('-', '')}`

/** Ids for items that are added at `path`, in the order of addition. */
export function idsAt(scope: Scope, path: string): () => string {
  let count = 0
  return () => idOf(scope, `${path}/${count++}`)
}

/**
 * The number of decoded messages to remember; at most twice as many are kept. Long threads would use too much
 * memory.
 */
const REMEMBERED = 5_000

/** `null` for values that are not messages. */
const decoded = /* @__PURE__ */ rememberRecent<WireMessage, Message | null>(REMEMBERED, () => 1)

/** The messages in the normal form. */
export function normalMessages(messages: readonly WireMessage[]): readonly Message[] {
  const normal: Message[] = []
  for (const wire of messages) {
    const message = decoded(wire, decode)
    if (message) normal.push(message)
  }
  return normal
}

/** Frozen, because later runs share it. */
const decode = (wire: WireMessage): Message | null => freeze(decodeMessage(wire) ?? null)

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}

/** Thrown by `interrupt` without an answer. It ends the attempt; the function runs again with the answer. */
export class Suspended extends AgentwireError {
  static override readonly brand = 'Suspended'
  constructor() {
    super('suspended', 'The agent is waiting for an answer. Do not catch this error.')
  }
}

export const isSuspended = (error: unknown): boolean =>
  causesOf(error).some((cause) => cause instanceof Suspended)

/** A rejection if the scope is suspended or its replay has diverged, so that it may not write. */
export function rejectSuspended({ suspended, attempt }: Scope): Promise<never> | undefined {
  const { divergence } = attempt
  if (!suspended && !divergence) return undefined
  return handled(Promise.reject(divergence ? divergence.error : new Suspended()))
}

export type Interrupts = ReturnType<typeof createInterrupts>

/** @param answers The answers so far, by the path of the interrupt. */
export function createInterrupts(seed: string, answers: Readonly<Record<string, Answer>>) {
  const raised: SavedInterrupt[] = []
  return {
    answered: (path: string) => (Object.hasOwn(answers, path) ? answers[path] : undefined),
    raise: (interrupt: Omit<SavedInterrupt, 'id' | 'order'>) =>
      void raised.push({ ...interrupt, id: derivedId(seed, interrupt.path), order: raised.length }),
    raised: (): readonly SavedInterrupt[] => raised,
  }
}
