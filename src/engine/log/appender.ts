import { backoff, nextTurn, pause, sleep } from '../../core/time.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import { ConflictError, FencedError, UnavailableError } from '../../storage/errors.ts'
import type { Change, Committed, Guard, Op, Store } from '../../storage/store/store.ts'
import { RunError } from '../errors.ts'
import { encodeFrame, eventWriter, OMITTED, type PendingEvent, type RecordedEvent } from './frame.ts'
import type { LogWatchers } from './watchers.ts'

/** Writes one run's events to the thread's log, in order, with the run's fencing token. */
export interface Appender {
  /**
   * Queues an event. The first event after a pause is written at once, so that the first token is not
   * delayed; later events are batched. Returns a promise if the agent is too far ahead of the store and must
   * wait. Throws the error of an earlier write, and for data that is not JSON.
   */
  push(event: RecordedEvent): Promise<void> | undefined
  /** Settles when every event pushed so far is written, whatever is pushed in the meantime. */
  flush(): Promise<void>
  /**
   * Writes events in one commit with `ops`, under `guards`, together with unwritten events that were pushed
   * before. Throws the error of an earlier write, unless `flush` has thrown it. Returns undefined if the
   * response of the commit was lost.
   */
  commit(
    events: readonly AgentEvent[],
    guards: readonly Guard[],
    ops: readonly Op[],
  ): Promise<Committed | undefined>
  /** Whether events could not be written. `flush` throws the reason. */
  hasFailed(): boolean
  /**
   * The last sequence number so far, if the log lacks a state of the thread because it was too long. A new
   * reader of the thread then needs its newest state.
   */
  omittedThrough(): number | undefined
  /** When the last commit that held the lease began, by `performance.now()`. */
  heldAt(): number
}

interface AppenderOptions {
  readonly store: Store
  readonly watchers: Pick<LogWatchers, 'append' | 'isRead' | 'onReader'>
  readonly threadId: string
  readonly runId: string
  readonly token: number
  /** The log's last sequence number. */
  readonly head: number
  /** When the commit that took the lease began, by `performance.now()`. */
  readonly claimedAt: number
  /** How long to retry while the store is unavailable, in milliseconds. */
  readonly retryForMs: number
  /** The maximum length of an event, in characters of JSON. */
  readonly eventLength: number
  /** Renews an expired lease. Throws if another process has taken it. */
  readonly renew: () => Promise<void>
}

/** A commit that also writes the queued events. */
interface JoinedCommit {
  readonly events: readonly PendingEvent[]
  readonly guards: readonly Guard[]
  readonly ops: readonly Op[]
  readonly resolve: (committed: Committed | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * How many events an agent may be ahead of the store, in addition to those being written. Also the maximum of
 * one commit.
 */
const MAX_QUEUED = 1_000
/** Their maximum total length in characters of JSON, not counting the last one. */
const MAX_QUEUED_LENGTH = 1024 * 1024
/**
 * How long events without a reader are collected, in milliseconds: most short runs write them with their end.
 */
const UNREAD_MS = 10
/** Events that are written without waiting for a batch, because clients react to them. */
const URGENT = new Set(['lifecycle', 'input.requested', 'checkpoints'])

/** Events with parts of a state that is saved. */
const OF_THE_STATE: ReadonlySet<string> = new Set(['values', 'updates', 'tasks'])
/** The number of namespaces whose newest checkpoint is remembered. */
const MAX_NAMESPACES = 100

export function createAppender(options: AppenderOptions): Appender {
  const { store, watchers, threadId, runId, token, retryForMs, eventLength, renew } = options
  const { coalesceMs, shared } = store.capabilities
  /** Whether no reader waits for the events. Readers in other processes that share the store are unknown. */
  const isUnread = (): boolean => !shared && !watchers.isRead(threadId)
  const toPending = eventWriter(runId)
  /** The newest checkpoint event of each namespace. */
  const checkpoints = new Map<string, AgentEvent<'checkpoints'>>()
  let isStateOmitted = false
  let head = options.head
  let heldAt = options.claimedAt
  let queue: PendingEvent[] = []
  let queuedLength = 0
  /** Settles when a full queue is taken. */
  let room: Promise<void> | undefined
  let makeRoom = () => {}
  /** The number of events in the current write. */
  let writing = 0
  const flushes: (() => void)[] = []
  let draining: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined
  let isFailureReported = false
  /** The commit to join with the next write. */
  let joined: JoinedCommit | undefined
  let gathering: AbortController | undefined

  /**
   * The event, if it is not too long. The saved state has what a longer `values`, `updates` or `tasks` event
   * would say, so that such a state must not end its thread: the first is replaced by its checkpoint, with
   * `values_omitted`, and the others are left out.
   */
  function shortened(event: RecordedEvent): PendingEvent | undefined {
    const item = toPending(event)
    const scope = event.namespace.join('|')
    if (event.method === 'checkpoints') {
      if (checkpoints.size === MAX_NAMESPACES) checkpoints.clear()
      checkpoints.set(scope, event)
    }
    if (item.params.length <= eventLength) return item
    if (!OF_THE_STATE.has(event.method)) throw tooLong(item, eventLength)
    if (event.method === 'values' && event.namespace.length === 0) isStateOmitted = true
    const saved = event.method === 'values' ? checkpoints.get(scope) : undefined
    return saved && toPending({ ...saved, data: { ...saved.data, values_omitted: true }, detail: OMITTED })
  }

  async function write(
    events: readonly PendingEvent[],
    guards: readonly Guard[] = [],
    ops: readonly Op[] = [],
  ) {
    const frames = events.map((event, i) => encodeFrame(event, token, head + 1 + i))
    const after = head + frames.length
    const began = performance.now()
    const before = head
    const change: Change = {
      guards: [{ guard: 'fence', token }, { guard: 'head', seq: before }, ...guards],
      ops: [{ op: 'append', token, events: frames }, ...ops],
    }
    const committed = await watchers.append(threadId, { before, token, events: frames }, () =>
      persist({ store, threadId, token, before, after, retryForMs, renew, change }),
    )
    head = after
    heldAt = began
    return committed
  }

  async function drain(): Promise<void> {
    try {
      if (isUnread()) await gather()
      while (queue.length > 0 || joined) {
        const commit = joined
        joined = undefined
        const events = takeQueue()
        writing = events.length
        if (commit) await writeWith(commit, events)
        else await write(events)
        writing = 0
        wakeFlushes()
        if (!commit) await gather()
      }
    } catch (error) {
      failure = { error }
      joined?.reject(error)
      joined = undefined
      throw error
    } finally {
      draining = undefined
      writing = 0
      makeRoom()
      wakeFlushes()
    }
  }

  /** Writes queued events together with a commit. If the records have changed, requeues them. */
  async function writeWith(commit: JoinedCommit, queued: readonly PendingEvent[]): Promise<void> {
    try {
      commit.resolve(await write([...queued, ...commit.events], commit.guards, commit.ops))
    } catch (error) {
      commit.reject(error)
      if (!(error instanceof ConflictError)) {
        if (queued.length > 0) throw error
        return
      }
      queue = [...queued, ...queue]
      for (const { params } of queued) queuedLength += params.length
    }
  }

  function startDraining(): void {
    if (draining) return
    draining = drain()
    // The next push or flush throws the error.
    draining.catch(() => {})
  }

  function wakeFlushes(): void {
    for (const wake of flushes.splice(0)) wake()
  }

  function takeQueue(): readonly PendingEvent[] {
    const events = queue
    queue = []
    queuedLength = 0
    makeRoom()
    room = undefined
    return events
  }

  const isFull = (): boolean => queue.length >= MAX_QUEUED || queuedLength >= MAX_QUEUED_LENGTH

  /**
   * Collects further events. A store may respond within one turn of the event loop, so timers and requests
   * get a turn first.
   */
  async function gather(): Promise<void> {
    await nextTurn()
    if (joined || flushes.length > 0 || isFull()) return
    const ms = isUnread() ? UNREAD_MS : queue.some(isUrgent) ? 0 : coalesceMs
    if (ms === 0) return
    const pausing = new AbortController()
    gathering = pausing
    const off = watchers.onReader(threadId, () => pausing.abort())
    await pause(ms, pausing.signal)
    off()
    gathering = undefined
  }

  return {
    push(event) {
      if (failure) throw failure.error
      const item = shortened(event)
      if (!item) return undefined
      queue.push(item)
      queuedLength += item.params.length
      if (isUrgent(item) && !isUnread()) gathering?.abort()
      startDraining()
      if (!isFull()) return undefined
      gathering?.abort()
      room ??= new Promise((resolve) => (makeRoom = resolve))
      return room
    },
    async flush() {
      const last = head + writing + queue.length
      while (draining && head < last) {
        gathering?.abort()
        await new Promise<void>((wake) => flushes.push(wake))
      }
      isFailureReported = failure !== undefined
      if (failure) throw failure.error
    },
    async commit(events, guards, ops) {
      const pending = events.map(toPending)
      if (!failure) {
        return new Promise((resolve, reject) => {
          joined = { events: pending, guards, ops, resolve, reject }
          gathering?.abort()
          startDraining()
        })
      }
      if (!isFailureReported) throw failure.error
      // The failed write may still have reached the store.
      head = (await store.inspect(threadId)).head
      return write(pending, guards, ops)
    },
    hasFailed: () => failure !== undefined,
    omittedThrough: () => (isStateOmitted ? head + writing + queue.length : undefined),
    heldAt: () => heldAt,
  }
}

const tooLong = ({ method, params }: PendingEvent, eventLength: number): RunError =>
  new RunError(
    'limit_exceeded',
    `An event of the agent (${method}) has ${params.length} characters of JSON; the limit is ${eventLength}.`,
  )

const isUrgent = ({ method }: PendingEvent): boolean => URGENT.has(method)

export interface Persist {
  readonly store: Store
  readonly threadId: string
  readonly token: number
  /** The log's last sequence number before and after the change. They must differ. */
  readonly before: number
  readonly after: number
  readonly change: Change
  /** How long to retry while the store is unavailable, in milliseconds. */
  readonly retryForMs: number
  /** Called once if the lease has expired. Throws if another process has taken it. */
  readonly renew?: () => Promise<void>
}

/**
 * Commits a change that appends to the log, and retries while the store is unavailable. A commit with a lost
 * response is not applied twice: only the holder of the token writes to this log, so its head shows whether
 * it contains the change. Returns undefined if it does and the response was lost.
 */
export async function persist({
  store,
  threadId,
  token,
  before,
  after,
  change,
  retryForMs,
  renew,
}: Persist): Promise<Committed | undefined> {
  let deadline: number | undefined
  let mayRenew = renew !== undefined
  for (let failures = 0; ; ) {
    try {
      const state = deadline === undefined ? undefined : await store.inspect(threadId)
      if (state?.token === token && state.head === after) return undefined
      return await store.commit(threadId, change)
    } catch (error) {
      if (mayRenew && error instanceof FencedError) {
        mayRenew = false
        await renew!()
        continue
      }
      if (renew && error instanceof ConflictError && (await hasLost(store, threadId, before)))
        throw new FencedError('The store has lost events of this run.')
      // The commit that seemed lost may have been applied: inspect the log again.
      const conflicted = error instanceof ConflictError && deadline !== undefined
      if (!(error instanceof UnavailableError || conflicted)) throw error
      deadline ??= performance.now() + retryForMs
      if (performance.now() >= deadline || (conflicted && !(await headMoved(store, threadId, before))))
        throw error
      await sleep(backoff(failures++, FIRST_DELAY_MS, MAX_DELAY_MS))
    }
  }
}

/** Whether the store has forgotten events that it had acknowledged: only the holder of the lease appends. */
const hasLost = async (store: Store, threadId: string, head: number): Promise<boolean> =>
  (await store.inspect(threadId)).head < head

/** Whether a conflict was caused by the log's head, not by another guard of the change. */
const headMoved = async (store: Store, threadId: string, head: number): Promise<boolean> =>
  (await store.inspect(threadId)).head !== head

const FIRST_DELAY_MS = 20
const MAX_DELAY_MS = 1_000
