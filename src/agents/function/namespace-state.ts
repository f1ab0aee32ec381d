import type { WireMessage } from '../../messages/index.ts'
import type { AgentEvent, AgentEventMethod } from '../agent.ts'
import type { Channels, CheckpointChain, CheckpointData, CheckpointDetails } from './checkpoints.ts'
import type { EventQueue } from './event-queue.ts'
import { messagesOf, reduce, type State } from './state.ts'

/** The one node that a function is, seen as a graph. */
export const NODE = 'agent'

/** The state of one namespace (the run's own, or a subagent's) during an attempt, and how it becomes known. */
export interface NamespaceState {
  readonly namespace: readonly string[]
  readonly timeline: CheckpointChain
  state(): State
  /** A change that the next `commit` will publish. */
  change(update: Readonly<Record<string, unknown>>, next: State): void
  /** Reduces and records `update`. */
  update(update: unknown, makeId: () => string): void
  /** Whether there is a change that was not published. */
  readonly dirty: boolean
  /** Writes a checkpoint of the state as it is now and publishes it, when its turn comes. Settles when that is done. */
  commit(options?: CommitOptions): Promise<void>
  /** `commit`, if there is something to publish. */
  flush(): void
  /** `commit`, if there is something to publish, or when its turn comes there is something else to write. */
  commitIf(unsaved: () => boolean, options: CommitOptions): void
  /** Whether the state had this message when the attempt began: it was delivered by an earlier attempt. */
  wasDelivered(messageId: string): boolean
  event(method: AgentEventMethod, data: unknown, node?: string): AgentEvent
}

export interface CommitOptions {
  readonly source?: CheckpointDetails['source']
  /** Carried out before the checkpoint, on the one before it. */
  readonly before?: () => Promise<void>
  /** Sent between `updates` and `checkpoints`. */
  readonly between?: readonly AgentEvent[]
  /** The state alone: nothing is to be continued. */
  readonly final?: boolean
  /** Leaves out what `afterCommit` adds. */
  readonly bare?: boolean
}

export interface NamespaceStateOptions {
  readonly namespace: readonly string[]
  readonly state: State
  readonly timeline: CheckpointChain
  readonly outbox: EventQueue
  /** What belongs into a checkpoint beside the state: called by `commit`, and again when the checkpoint is written. */
  readonly channels: () => () => Channels
  readonly details: () => Omit<CheckpointDetails, 'source'>
  readonly delivered: State | undefined
  readonly afterCommit?: (checkpoint: CheckpointData) => Promise<void>
}

export function createNamespaceState(options: NamespaceStateOptions): NamespaceState {
  const { namespace, timeline, outbox } = options
  const delivered = new Set(options.delivered && messagesOf(options.delivered).map(({ id }) => id))
  let state = options.state
  let changes: Record<string, unknown> | undefined

  const event = (method: AgentEventMethod, data: unknown, node?: string): AgentEvent => ({
    method,
    namespace,
    ...(node !== undefined && { node }),
    data,
  })

  function change(update: Readonly<Record<string, unknown>>, next: State): void {
    const messages = [
      ...((changes?.messages as WireMessage[] | undefined) ?? []),
      ...((update.messages as WireMessage[]) ?? []),
    ]
    changes = { ...changes, ...update, ...(messages.length > 0 && { messages }) }
    state = next
  }

  function commit(options?: CommitOptions): Promise<void> {
    return outbox.step(prepare(options))
  }

  /** The step that writes the state as it is now. */
  function prepare({
    source = 'loop',
    before,
    between = [],
    final = false,
    bare = final,
  }: CommitOptions = {}) {
    const snapshot = state
    const channels = final ? () => ({}) : options.channels()
    const updates = changes && source === 'loop' && event('updates', { node: NODE, values: changes }, NODE)
    changes = undefined
    return async (): Promise<readonly AgentEvent[]> => {
      await before?.()
      const checkpoint = await timeline.put({ ...snapshot, ...channels() }, { ...options.details(), source })
      if (!bare) await options.afterCommit?.(checkpoint)
      return [
        ...(updates ? [updates] : []),
        ...between,
        event('checkpoints', checkpoint),
        event('values', snapshot),
      ]
    }
  }

  return {
    namespace,
    timeline,
    state: () => state,
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
    get dirty() {
      return changes !== undefined
    },
    commit,
    flush() {
      if (changes) void commit()
    },
    commitIf(unsaved, commitOptions) {
      const dirty = changes !== undefined
      const write = prepare(commitOptions)
      void outbox.step(async () => (dirty || unsaved() ? write() : []))
    },
    wasDelivered: (messageId) => delivered.has(messageId),
    event,
  }
}
