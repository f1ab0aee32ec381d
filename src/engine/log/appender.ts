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

/** The state of an appender. */
interface Appending {
  readonly options: AppenderOptions
  readonly shortened: (event: RecordedEvent) => PendingEvent | undefined
  head: number
  heldAt: number
  queue: PendingEvent[]
  queuedLength: number
  /** Settles when a full queue is taken. */
  room: Promise<void> | undefined
  makeRoom: () => void
  /** The number of events in the current write. */
  writing: number
  readonly flushes: (() => void)[]
  draining: Promise<void> | undefined
  failure: { readonly error: unknown } | undefined
  isFailureReported: boolean
  /** The commit to join with the next write. */
  joined: JoinedCommit | undefined
  gathering: AbortController | undefined
  isStateOmitted: boolean
}

export function createAppender(options: AppenderOptions): Appender {
  const toPending = eventWriter(options.runId)
  const own: Appending = {
    options,
    shortened: createShortener(toPending, options.eventLength, () => (own.isStateOmitted = true)),
    head: options.head,
    heldAt: options.claimedAt,
    queue: [],
    queuedLength: 0,
    room: undefined,
    makeRoom: () => {},
    writing: 0,
    flushes: [],
    draining: undefined,
    failure: undefined,
    isFailureReported: false,
    joined: undefined,
    gathering: undefined,
    isStateOmitted: false,
  }
  return {
    push: (event) => push(own, event),
    flush: () => flush(own),
    commit: async (events, guards, ops) => commit(own, events.map(toPending), guards, ops),
    hasFailed: () => own.failure !== undefined,
    omittedThrough: () => (own.isStateOmitted ? own.head + own.writing + own.queue.length : undefined),
    heldAt: () => own.heldAt,
  }
}

/**
 * The event, if it is not too long. The saved state has what a longer `values`, `updates` or `tasks` event
 * would say, so that such a state must not end its thread: the first is replaced by its checkpoint, with
 * `values_omitted`, and the others are left out.
 */
function createShortener(
  toPending: (event: RecordedEvent) => PendingEvent,
  eventLength: number,
  onStateOmitted: () => void,
): (event: RecordedEvent) => PendingEvent | undefined {
  /** The newest checkpoint event of each namespace. */
  const checkpoints = new Map<string, AgentEvent<'checkpoints'>>()
  return (event) => {
    const item = toPending(event)
    const scope = event.namespace.join('|')
    if (event.method === 'checkpoints') {
      if (checkpoints.size === MAX_NAMESPACES) checkpoints.clear()
      checkpoints.set(scope, event)
    }
    if (item.params.length <= eventLength) return item
    if (!OF_THE_STATE.has(event.method)) throw tooLong(item, eventLength)
    if (event.method === 'values' && event.namespace.length === 0) onStateOmitted()
    const saved = event.method === 'values' ? checkpoints.get(scope) : undefined
    return saved && toPending({ ...saved, data: { ...saved.data, values_omitted: true }, detail: OMITTED })
  }
}

function push(own: Appending, event: RecordedEvent): Promise<void> | undefined {
  if (own.failure) throw own.failure.error
  const item = own.shortened(event)
  if (!item) return undefined
  own.queue.push(item)
  own.queuedLength += item.params.length
  if (isUrgent(item) && !isUnread(own)) own.gathering?.abort()
  startDraining(own)
  if (!isFull(own)) return undefined
  own.gathering?.abort()
  own.room ??= new Promise((resolve) => (own.makeRoom = resolve))
  return own.room
}

async function flush(own: Appending): Promise<void> {
  const last = own.head + own.writing + own.queue.length
  while (own.draining && own.head < last) {
    own.gathering?.abort()
    await new Promise<void>((wake) => own.flushes.push(wake))
  }
  own.isFailureReported = own.failure !== undefined
  if (own.failure) throw own.failure.error
}

async function commit(
  own: Appending,
  events: readonly PendingEvent[],
  guards: readonly Guard[],
  ops: readonly Op[],
): Promise<Committed | undefined> {
  if (!own.failure) {
    return new Promise((resolve, reject) => {
      own.joined = { events, guards, ops, resolve, reject }
      own.gathering?.abort()
      startDraining(own)
    })
  }
  if (!own.isFailureReported) throw own.failure.error
  // The failed write may still have reached the store.
  own.head = (await own.options.store.inspect(own.options.threadId)).head
  return write(own, events, guards, ops)
}

async function write(
  own: Appending,
  events: readonly PendingEvent[],
  guards: readonly Guard[] = [],
  ops: readonly Op[] = [],
) {
  const { store, watchers, threadId, token, retryForMs, renew } = own.options
  const frames = events.map((event, i) => encodeFrame(event, token, own.head + 1 + i))
  const after = own.head + frames.length
  const began = performance.now()
  const before = own.head
  const change: Change = {
    guards: [{ guard: 'fence', token }, { guard: 'head', seq: before }, ...guards],
    ops: [{ op: 'append', token, events: frames }, ...ops],
  }
  const committed = await watchers.append(threadId, { before, token, events: frames }, () =>
    persist({ store, threadId, token, before, after, retryForMs, renew, change }),
  )
  own.head = after
  own.heldAt = began
  return committed
}

async function drain(own: Appending): Promise<void> {
  try {
    if (isUnread(own)) await gather(own)
    while (own.queue.length > 0 || own.joined) {
      const commit = own.joined
      own.joined = undefined
      const events = takeQueue(own)
      own.writing = events.length
      if (commit) await writeWith(own, commit, events)
      else await write(own, events)
      own.writing = 0
      wakeFlushes(own)
      if (!commit) await gather(own)
    }
  } catch (error) {
    own.failure = { error }
    own.joined?.reject(error)
    own.joined = undefined
    throw error
  } finally {
    own.draining = undefined
    own.writing = 0
    own.makeRoom()
    wakeFlushes(own)
  }
}

/** Writes queued events together with a commit. If the records have changed, requeues them. */
async function writeWith(
  own: Appending,
  commit: JoinedCommit,
  queued: readonly PendingEvent[],
): Promise<void> {
  try {
    commit.resolve(await write(own, [...queued, ...commit.events], commit.guards, commit.ops))
  } catch (error) {
    commit.reject(error)
    if (!(error instanceof ConflictError)) {
      if (queued.length > 0) throw error
      return
    }
    own.queue = [...queued, ...own.queue]
    for (const { params } of queued) own.queuedLength += params.length
  }
}

function startDraining(own: Appending): void {
  if (own.draining) return
  own.draining = drain(own)
  // The next push or flush throws the error.
  own.draining.catch(() => {})
}

function wakeFlushes(own: Appending): void {
  for (const wake of own.flushes.splice(0)) wake()
}

function takeQueue(own: Appending): readonly PendingEvent[] {
  const events = own.queue
  own.queue = []
  own.queuedLength = 0
  own.makeRoom()
  own.room = undefined
  return events
}

/**
 * Collects further events. A store may respond within one turn of the event loop, so timers and requests
 * get a turn first.
 */
async function gather(own: Appending): Promise<void> {
  await nextTurn()
  if (own.joined || own.flushes.length > 0 || isFull(own)) return
  const ms = isUnread(own)
    ? UNREAD_MS
    : own.queue.some(isUrgent)
      ? 0
      : own.options.store.capabilities.coalesceMs
  if (ms === 0) return
  const pausing = new AbortController()
  own.gathering = pausing
  const off = own.options.watchers.onReader(own.options.threadId, () => pausing.abort())
  await pause(ms, pausing.signal)
  off()
  own.gathering = undefined
}

const isFull = ({ queue, queuedLength }: Appending): boolean =>
  queue.length >= MAX_QUEUED || queuedLength >= MAX_QUEUED_LENGTH

/** Whether no reader waits for the events. Readers in other processes that share the store are unknown. */
const isUnread = ({ options: { store, watchers, threadId } }: Appending): boolean =>
  !store.capabilities.shared && !watchers.isRead(threadId)

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
