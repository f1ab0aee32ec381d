import {
  type AgentEvent,
  agentEvent,
  type CheckpointData,
  type EventData,
  type EventMethod,
} from '../../events/index.ts'
import type { WireMessage } from '../../messages/index.ts'
import type { Channels, CheckpointChain, CheckpointDetails } from './checkpoints.ts'
import type { EventQueue } from './event-queue.ts'
import type { CallLog, CompletedCall } from './journal/call-log.ts'
import { changeBetween } from './journal/change.ts'
import { messagesOf, reduce, type State } from './state.ts'

/** The name of the one node that a function is when it is seen as a graph. */
export const NODE = 'agent'

/** The state of one namespace (the run's own, or a subagent's) during an attempt, and how it is published. */
export interface NamespaceState {
  readonly namespace: readonly string[]
  readonly chain: CheckpointChain
  /** The calls that have completed in this namespace. */
  readonly log: CallLog
  current(): State
  /** The state as the function sees it: see `CallLog`. */
  seen(): State
  /** Makes `next` the current state. The next `commit` publishes `update`. */
  change(update: Readonly<Record<string, unknown>>, next: State): void
  /** Reduces the current state with `update`. */
  update(update: unknown, makeId: () => string): void
  /** Logs a call as completed, together with the change of the state that `apply` makes. */
  complete(call: CompletedCall, apply: () => void, thrown?: unknown): void
  /** Whether there is a change or a completed call that is not committed. */
  readonly dirty: boolean
  /**
   * Queues a checkpoint of the state as it is now, and its events. Settles when the checkpoint is written, which happens when
   * its turn in the queue comes.
   */
  commit(options?: CommitOptions): Promise<void>
  /** Commits if the state is dirty. */
  flush(): void
  /**
   * Takes the state as it is now. The result writes it past the queue, which is closed, unless the newest checkpoint has it, and gives
   * the events.
   */
  prepareSave(): () => Promise<readonly AgentEvent[]>
  /** Commits if the state is dirty, or if `isNeeded` says so when the turn of the commit comes. */
  commitIf(isNeeded: () => boolean, options: CommitOptions): void
  event<M extends EventMethod>(method: M, data: EventData[M], node?: string): AgentEvent
}

export interface CommitOptions {
  readonly source?: CheckpointDetails['source']
  /** Runs right before the checkpoint is written, while the one before it is still the head. */
  readonly before?: () => Promise<void>
  /** Events to send between `updates` and `checkpoints`. They lead to the checkpoint, so they are sent before it is written. */
  readonly between?: readonly AgentEvent[]
  /** Writes the state alone, because the run ends with it and nothing will be continued. */
  readonly final?: boolean
  /** Skips `afterCommit`. */
  readonly bare?: boolean
}

export interface NamespaceStateOptions {
  readonly namespace: readonly string[]
  readonly initial: State
  readonly chain: CheckpointChain
  readonly queue: EventQueue
  /**
   * The channels other than the state. `commit` calls it, and the result is called when the checkpoint is
   * written.
   */
  readonly channels: () => () => Channels
  readonly details: () => Omit<CheckpointDetails, 'source'>
  readonly log: CallLog
  readonly afterCommit?: (checkpoint: CheckpointData) => Promise<void>
}

export function createNamespaceState(options: NamespaceStateOptions): NamespaceState {
  const { namespace, chain, queue, log } = options
  let state = options.initial
  let written = state
  let changes: Record<string, unknown> | undefined

  const isDirty = () => changes !== undefined || log.dirty

  const event = <M extends EventMethod>(method: M, data: EventData[M], node?: string) =>
    agentEvent(method, namespace, data, node)

  function change(update: Readonly<Record<string, unknown>>, next: State): void {
    const messages = [
      ...((changes?.messages as WireMessage[] | undefined) ?? []),
      ...((update.messages as WireMessage[]) ?? []),
    ]
    changes = { ...changes, ...update, ...(messages.length > 0 && { messages }) }
    state = next
  }

  function commit(options?: CommitOptions): Promise<void> {
    return queue.step(prepareCommit(options))
  }

  /** Queues what led to the state as it is now. The result is the step that writes it. */
  function prepareCommit({
    source = 'loop',
    before,
    between = [],
    final = false,
    bare = final,
  }: CommitOptions = {}) {
    const snapshot = state
    const calls = final ? {} : log.channels()
    const channels = final ? () => ({}) : options.channels()
    const updates = changes && source === 'loop' && event('updates', { node: NODE, values: changes }, NODE)
    changes = undefined
    if (updates) queue.put(updates)
    for (const sent of between) queue.put(sent)
    return async (): Promise<readonly AgentEvent[]> => {
      await before?.()
      const checkpoint = await chain.put(
        { ...snapshot, ...channels(), ...calls },
        { ...options.details(), source },
      )
      written = snapshot
      if (!bare) await options.afterCommit?.(checkpoint)
      return [event('checkpoints', checkpoint), event('values', snapshot)]
    }
  }

  return {
    namespace,
    chain,
    log,
    current: () => state,
    seen: () => log.seen() ?? state,
    change,
    update(update, makeId) {
      const next = reduce(state, update, makeId)
      if (next === state) return
      const fields = Array.isArray(update) ? Object.fromEntries(update) : (update as Record<string, unknown>)
      const keys = Object.keys(fields)
      const given = Object.fromEntries(keys.map((key) => [key, next[key] ?? null]))
      if (!keys.includes('messages')) return change(given, next)
      const before = new Set<unknown>(messagesOf(state))
      change({ ...given, messages: messagesOf(next).filter((message) => !before.has(message)) }, next)
    },
    complete(call, apply, thrown) {
      const before = state
      apply()
      log.add({ ...call, change: changeBetween(before, state) }, thrown)
    },
    get dirty() {
      return isDirty()
    },
    commit,
    prepareSave() {
      const taken = state
      const write = prepareCommit()
      return async () => (taken === written ? [] : write())
    },
    flush() {
      if (isDirty()) void commit()
    },
    commitIf(isNeeded, commitOptions) {
      const dirty = isDirty()
      const write = prepareCommit(commitOptions)
      void queue.step(async () => (dirty || isNeeded() ? write() : []))
    },
    event,
  }
}
