import { decodeMessage, type Message, type WireMessage } from '../../messages/index.ts'
import type { EventQueue } from './event-queue.ts'
import { derivedId } from './ids.ts'
import { handled, type Interrupts, Suspended } from './interrupts.ts'
import type { NamespaceState } from './namespace-state.ts'

/** What all parts of one attempt share. */
export interface Attempt {
  readonly outbox: EventQueue
  readonly interrupts: Interrupts
  readonly seed: string
  readonly signal: AbortSignal
  /** Calls of tools and subagents that have not settled. */
  readonly running: Set<Promise<unknown>>
  /** Namespaces that have started and not ended. */
  readonly started: Set<readonly string[]>
  /** Opens the ledger of a subagent. */
  openLedger(namespace: readonly string[]): Promise<NamespaceState>
  /** Whether the next `custom` event of this scope was not sent by an earlier attempt. Counts it. */
  isNewCustom(scope: string): boolean
}

/** A part of the function that numbers its calls for itself: the run, a subagent or a tool. */
export interface Scope {
  readonly attempt: Attempt
  readonly ledger: NamespaceState
  /** Where interrupts of this scope are raised. */
  readonly namespace: readonly string[]
  readonly path: string
  /** Of the outermost call around it: its place in its assistant message. */
  readonly callIndex?: number
  /** Calls of this turn of the loop that wait for their common assistant message. */
  batch: CallBatch | undefined
  readonly openMessages: Set<OpenMessage>
  readonly counts: Map<string, number>
  /** Set once an interrupt of this scope waits: nothing more is written. */
  suspended: boolean
}

export interface CallBatch {
  readonly calls: {
    readonly id: string
    readonly name: string
    readonly args: Readonly<Record<string, unknown>>
  }[]
  readonly announced: Promise<void>
}

export interface OpenMessage {
  readonly node: number
  /** Ends it well. */
  end(): void
  /** Tells readers that it will not be finished. */
  fail(reason: string): void
}

export function createScope(
  attempt: Attempt,
  ledger: NamespaceState,
  place: { readonly path: string; readonly namespace?: readonly string[]; readonly callIndex?: number },
): Scope {
  return {
    attempt,
    ledger,
    namespace: ledger.namespace,
    ...place,
    batch: undefined,
    openMessages: new Set(),
    counts: new Map(),
    suspended: false,
  }
}

/** The path of the next call of its kind: `m0`, `m1`, `s0/t0`, … */
export function nextPath(scope: Scope, kind: 'm' | 't' | 's' | 'i' | 'u'): string {
  const count = scope.counts.get(kind) ?? 0
  scope.counts.set(kind, count + 1)
  return scope.path === '' ? `${kind}${count}` : `${scope.path}/${kind}${count}`
}

export const idOf = ({ attempt }: Scope, path: string): string => derivedId(attempt.seed, path)

/** An id that every provider takes for a tool call: letters, digits and `_`, at most 40. */
export const callIdOf = (scope: Scope, path: string): string =>
  `call_${idOf(scope, path).replaceAll('-', '')}`

/** Ids for what is added at `path`, by place. */
export function idsAt(scope: Scope, path: string): () => string {
  let count = 0
  return () => idOf(scope, `${path}/${count++}`)
}

/** A rejection where the scope may not write any more. */
export function refusal({ suspended }: Scope): Promise<never> | undefined {
  return suspended ? handled(Promise.reject(new Suspended())) : undefined
}

const decoded = new WeakMap<WireMessage, Message>()

/** In the normal form. A message is converted once, as long as it lives. */
export function normalMessages(messages: readonly WireMessage[]): readonly Message[] {
  return messages.flatMap((wire) => {
    const known = decoded.get(wire) ?? decodeMessage(wire)
    if (known) decoded.set(wire, known)
    return known ? [known] : []
  })
}
