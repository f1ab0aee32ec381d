import {
  type AgentEvent,
  agentEvent,
  type CheckpointData,
  type EventData,
  type EventMethod,
} from '../../messages/thread-events/index.ts'
import type { Channels, CheckpointChain, CheckpointDetails } from './checkpoints.ts'
import type { EventQueue } from './event-queue.ts'
import type { CallLog, CompletedCall } from './journal/call-log.ts'
import { changeBetween } from './journal/change.ts'
import { messagesOf, reduce, type State } from './state.ts'

/** The name of the only node of a function that is shown as a graph. */
export const NODE = 'agent'

export type NamespaceState = ReturnType<typeof createNamespaceState>

interface CommitOptions {
  readonly source?: CheckpointDetails['source']
  /** Runs right before the checkpoint is written, while the previous one is still the head. */
  readonly before?: () => Promise<void>
  /** Events between `updates` and `checkpoints`. They are sent before the checkpoint is written. */
  readonly between?: readonly AgentEvent[]
  /** Writes only the state, because the run ends and nothing will be continued. */
  readonly final?: boolean
  readonly bare?: boolean
}

interface NamespaceStateOptions {
  readonly namespace: readonly string[]
  readonly initial: State
  readonly chain: CheckpointChain
  readonly queue: EventQueue
  /**
   * The channels in addition to the state. `commit` calls it, and calls its result when the checkpoint is
   * written.
   */
  readonly channels: () => () => Channels
  readonly details: () => Omit<CheckpointDetails, 'source'>
  readonly log: CallLog
  readonly afterCommit?: (checkpoint: CheckpointData) => Promise<void>
}

interface Written {
  state: State
  /** The state in the newest checkpoint. */
  written: State
  /** The updates since the last commit. */
  changes: Record<string, unknown> | undefined
}

/** The state of one namespace (the run's own, or a subagent's) during an attempt, and its publication. */
export function createNamespaceState(options: NamespaceStateOptions) {
  const { namespace, chain, queue, log, initial } = options
  const now: Written = { state: initial, written: initial, changes: undefined }
  const isDirty = () => now.changes !== undefined || log.dirty
  const prepare = (given?: CommitOptions) => prepareCommit(options, now, given)
  const commit = (given?: CommitOptions): Promise<void> => queue.step(prepare(given))
  return {
    namespace,
    chain,
    log,
    current: () => now.state,
    /** The state that the function sees: see `openCallLog`. */
    seen: () => log.seen() ?? now.state,
    /** Sets the current state to `next`. The next `commit` publishes `update`. */
    change: (update: State, next: State) => change(now, update, next),
    update(update: unknown, makeId: () => string): void {
      const { state } = now
      const next = reduce(state, update, makeId)
      if (next === state) return
      const fields = Array.isArray(update) ? Object.fromEntries(update) : (update as Record<string, unknown>)
      const keys = Object.keys(fields)
      const given = Object.fromEntries(keys.map((key) => [key, next[key] ?? null]))
      if (keys.includes('messages')) given.messages = addedBetween(messagesOf(state), messagesOf(next))
      change(now, given, next)
    },
    /** Logs a completed call, together with the state change that `apply` makes. */
    complete(call: CompletedCall, apply: () => void, thrown?: unknown): void {
      const before = now.state
      apply()
      log.add({ ...call, change: changeBetween(before, now.state) }, thrown)
    },
    get dirty() {
      return isDirty()
    },
    /** Queues a checkpoint of the current state and its events. Settles when it is written. */
    commit,
    /**
     * Captures the current state. The result writes it unless the newest checkpoint contains it, and returns
     * the events. It does not use the queue, which is closed.
     */
    prepareSave(): () => Promise<readonly AgentEvent[]> {
      const taken = now.state
      const write = prepare()
      return async () => (taken === now.written ? [] : write())
    },
    flush(): void {
      if (isDirty()) void commit()
    },
    /** Commits if the state is dirty, or if `isNeeded` returns true when the commit runs. */
    commitIf(isNeeded: () => boolean, commitOptions: CommitOptions): void {
      const dirty = isDirty()
      const write = prepare(commitOptions)
      void queue.step(async () => (dirty || isNeeded() ? write() : []))
    },
    event: <M extends EventMethod>(method: M, data: EventData[M], node?: string): AgentEvent =>
      agentEvent(method, namespace, data, node),
  }
}

function change(now: Written, update: State, next: State): void {
  const messages = [...messagesOf(now.changes ?? {}), ...messagesOf(update)]
  now.changes = { ...now.changes, ...update, ...(messages.length > 0 && { messages }) }
  now.state = next
}

/** Queues the events that led to the current state. The result is the step that writes the state. */
function prepareCommit(
  { namespace, chain, queue, log, ...options }: NamespaceStateOptions,
  now: Written,
  { source = 'loop', before, between = [], final = false, bare = final }: CommitOptions = {},
): () => Promise<readonly AgentEvent[]> {
  const { state: snapshot, changes } = now
  const calls = final ? {} : log.channels()
  const channels = final ? () => ({}) : options.channels()
  now.changes = undefined
  if (changes && source === 'loop')
    queue.put(agentEvent('updates', namespace, { node: NODE, values: changes }, NODE))
  for (const sent of between) queue.put(sent)
  return async () => {
    await before?.()
    const checkpoint = await chain.put(
      { ...snapshot, ...channels(), ...calls },
      { ...options.details(), source },
    )
    now.written = snapshot
    if (!bare) await options.afterCommit?.(checkpoint)
    return [agentEvent('checkpoints', namespace, checkpoint), agentEvent('values', namespace, snapshot)]
  }
}

/** The messages of `after` that are not in `before`. Most messages are in their common prefix. */
function addedBetween<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const known = new Set(before.slice(at))
  return after.slice(at).filter((one) => !known.has(one))
}
