import { batchOf } from '../../storage/store/log-layout.ts'
import type {
  LogBatch,
  LogEvent,
  LogOrigin,
  PartitionChange,
  ReadQuery,
  Store,
} from '../../storage/store/store.ts'

/**
 * The subscribers of this process: one watch on the store for each thread that is read, and one timer for all
 * of them.
 */
export interface LogWatchers {
  /**
   * `onEnd` is called when the server ends the subscriber. A subscriber that never reads sets `isReader` to
   * false. Default: true.
   */
  open(threadId: string, onEnd: (how: SubscriberEnd) => void, isReader?: boolean): LogWatcher
  /** Whether a subscriber in this process reads the log, or waits for the thread to read it. */
  isRead(threadId: string): boolean
  /** Whether a subscriber in this process reads the log, or waits for changes of the thread. */
  isFollowed(threadId: string): boolean
  /** Calls `listener` when the next reader subscribes, until the returned function is called. */
  onReader(threadId: string, listener: () => void): () => void
  /**
   * Makes a commit that appends events after `before`, with the lease of `token`. Once committed, readers get
   * the events from memory and not from the store.
   */
  append<T>(threadId: string, appended: Appended, commit: () => Promise<T>): Promise<T>
  /** Ends every subscriber of a thread immediately. */
  drop(threadId: string, reason: Error): void
  /** Ends every subscriber after it has read the events in the log. */
  close(reason: Error): void
  /**
   * The number of subscribers, and the number of events that the slowest is behind the newest event that this
   * process has seen in its log.
   */
  measure(): { readonly subscribers: number; readonly lag: number }
}

export interface Appended {
  /** The log's last sequence number before the events. */
  readonly before: number
  readonly token: number
  readonly events: readonly LogEvent[]
}

export interface SubscriberEnd {
  readonly reason: Error
  readonly at: 'once' | 'head'
}

/** One subscriber's view of a log. */
export interface LogWatcher {
  /**
   * The number of wake-ups. Take it before a read and pass it to `wait`: if it has changed by then, the read
   * may have missed something.
   */
  wakeUps(): number
  /** Settles at the next wake-up after `seen`, or when the watcher is closed. */
  wait(seen: number): Promise<void>
  /** Like `store.read`. */
  read(query: ReadQuery): Promise<LogBatch>
  /** Whether the head that was last read includes the first `seen` wake-ups. */
  isFresh(seen: number): boolean
  /** The number of wake-ups that announced changed records. */
  changes(): number
  /** Records the position of the subscriber, and the last sequence number of the log at that time. */
  moved(after: number, head: number): void
  close(): void
}

/**
 * The recheck interval. Notifications of a shared store may be lost, and no subscriber may miss an event for
 * longer than this.
 */
const RECHECK_MS = 1_000
/** Rechecks are spread over this many time slots, because a store has few connections. */
const RECHECK_SLOTS = 10

interface Subscriber {
  readonly isReader: boolean
  readonly onEnd: (how: SubscriberEnd) => void
  /** Undefined until it has read something. */
  after: number | undefined
}

interface WatchedLog {
  readonly slot: number
  /** The origins of the events that this process appended last. */
  origins: { readonly token: number; readonly byTopic: Map<string, LogOrigin> }
  /**
   * When this process's current commit to the log began, by `performance.now()`. Undefined if there is none.
   */
  appendingSince: number | undefined
  wakeUps: number
  changes: number
  head: number
  readonly reader: LogReader
  readonly waiters: Set<() => void>
  readonly subscribers: Set<Subscriber>
  readonly unwatch: () => void
}

export function createLogWatchers(store: Store): LogWatchers {
  const logs = new Map<string, WatchedLog>()
  /** Listeners for a reader: the run that executes here. */
  const unread = new Map<string, () => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let joinCount = 0
  let currentSlot = 0

  function join(threadId: string): WatchedLog {
    const known = logs.get(threadId)
    if (known) return known
    const log = createLog(store, threadId, joinCount++ % RECHECK_SLOTS)
    logs.set(threadId, log)
    if (store.capabilities.shared) timer ??= setInterval(recheck, RECHECK_MS / RECHECK_SLOTS)
    return log
  }

  function recheck(): void {
    currentSlot = (currentSlot + 1) % RECHECK_SLOTS
    for (const log of logs.values()) if (log.slot === currentSlot) wakeUp(log)
  }

  function leave(threadId: string, log: WatchedLog): void {
    if (log.subscribers.size > 0 || logs.get(threadId) !== log) return
    log.unwatch()
    logs.delete(threadId)
    if (logs.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(threadId: string, how: SubscriberEnd): void {
    for (const { onEnd } of [...(logs.get(threadId)?.subscribers ?? [])]) onEnd(how)
  }

  return {
    open(threadId, onEnd, isReader = true) {
      const log = join(threadId)
      const watcher = watch(log, { isReader, onEnd, after: undefined }, () => leave(threadId, log))
      if (isReader) unread.get(threadId)?.()
      return watcher
    },
    isRead(threadId) {
      for (const { isReader } of logs.get(threadId)?.subscribers ?? []) if (isReader) return true
      return false
    },
    isFollowed: (threadId) => logs.has(threadId),
    onReader(threadId, listener) {
      unread.set(threadId, listener)
      return () => {
        if (unread.get(threadId) === listener) unread.delete(threadId)
      }
    },
    async append(threadId, appended, commit) {
      const log = logs.get(threadId)
      return log ? append(log, appended, commit) : commit()
    },
    drop: (threadId, reason) => end(threadId, { reason, at: 'once' }),
    close(reason) {
      for (const [threadId, log] of [...logs]) {
        // The log may contain events that no notification has announced yet.
        wakeUp(log)
        end(threadId, { reason, at: 'head' })
      }
    },
    measure: () => measure(logs.values()),
  }
}

function createLog(store: Store, threadId: string, slot: number): WatchedLog {
  const log: WatchedLog = {
    slot,
    origins: { token: 0, byTopic: new Map() },
    appendingSince: undefined,
    wakeUps: 0,
    changes: 0,
    head: 0,
    reader: createReader(store, threadId, store.capabilities.shared ? SHARED : LOCAL, () => log.wakeUps),
    waiters: new Set(),
    subscribers: new Set(),
    unwatch: store.watch(threadId, (change) => wakeUp(log, change)),
  }
  return log
}

function measure(logs: Iterable<WatchedLog>): ReturnType<LogWatchers['measure']> {
  let count = 0
  let lag = 0
  for (const { subscribers, head } of logs) {
    count += subscribers.size
    for (const { after = head } of subscribers) lag = Math.max(lag, head - after)
  }
  return { subscribers: count, lag }
}

function watch(log: WatchedLog, subscriber: Subscriber, leave: () => void): LogWatcher {
  log.subscribers.add(subscriber)
  let wake = () => {}
  let closed = false
  return {
    wakeUps: () => log.wakeUps,
    wait: (seen) =>
      new Promise((resolve) => {
        if (closed || log.wakeUps !== seen) return resolve()
        wake = resolve
        log.waiters.add(resolve)
      }),
    read: log.reader.read,
    isFresh: (seen) => log.reader.fresh() >= seen,
    changes: () => log.changes,
    moved(after, head) {
      subscriber.after = after
      if (head > log.head) log.head = head
    },
    close() {
      closed = true
      log.waiters.delete(wake)
      wake()
      log.subscribers.delete(subscriber)
      leave()
    },
  }
}

async function append<T>(
  log: WatchedLog,
  { before, token, events }: Appended,
  commit: () => Promise<T>,
): Promise<T> {
  const seen = log.wakeUps
  log.appendingSince = performance.now()
  try {
    const committed = await commit()
    // A later notification of the store makes readers check once more.
    if (log.wakeUps === seen) log.wakeUps += 1
    log.reader.appended(batchOf(events, before, originsOf(log, token)), log.wakeUps === seen + 1)
    return committed
  } finally {
    log.appendingSince = undefined
    if (log.wakeUps !== seen) wakeWaiters(log)
  }
}

/** The number of a run's topics to remember. */
const MAX_TOPICS = 1_000

function originsOf(log: WatchedLog, token: number): (topic: string) => LogOrigin {
  if (log.origins.token !== token || log.origins.byTopic.size > MAX_TOPICS)
    log.origins = { token, byTopic: new Map() }
  const { byTopic } = log.origins
  return (topic) => {
    const known = byTopic.get(topic)
    if (known) return known
    const origin = { topic, token }
    byTopic.set(topic, origin)
    return origin
  }
}

function wakeUp(log: WatchedLog, change?: PartitionChange): void {
  log.wakeUps++
  if (change?.docs) log.changes++
  const { appendingSince: since } = log
  // Events that are being committed need not be read from the store. A store that does not respond must not
  // delay readers.
  if (since === undefined || performance.now() - since > MAX_HELD_MS) wakeWaiters(log)
}

function wakeWaiters(log: WatchedLog): void {
  const waiters = [...log.waiters]
  log.waiters.clear()
  for (const wake of waiters) wake()
}

/** How the subscribers of one thread read its log. */
interface LogReader {
  /** Like `store.read`. The batch may be older than the newest wake-up: see `fresh`. */
  read(query: ReadQuery): Promise<LogBatch>
  /** The number of wake-ups when the head of the batches was last read. */
  fresh(): number
  /**
   * Adds events that this process committed at the head of the log. `isNewest`: no other change has woken
   * readers in the meantime.
   */
  appended(batch: LogBatch, isNewest: boolean): void
}

/** How long wake-ups of readers are delayed while a commit appends to their log, in milliseconds. */
const MAX_HELD_MS = 250

interface ReaderBounds {
  /** How many bytes of a log are kept for subscribers that are slightly behind. */
  readonly kept: number
  /** The minimum number of batches to keep even if they are larger, and the maximum. */
  readonly least: number
  readonly most: number
  /** The size of one read. */
  readonly read: number
}

/** Over a network, a few large reads are much cheaper than many small ones. */
const SHARED: ReaderBounds = { kept: 256 * 1024, least: 1, most: Number.POSITIVE_INFINITY, read: 256 * 1024 }
/** A store of this process has everything in memory. */
const LOCAL: ReaderBounds = { kept: 16 * 1024, least: 0, most: 1, read: 64 * 1024 }

/** What subscribers of one log share of it. */
interface ReadPart {
  readonly store: Store
  readonly threadId: string
  readonly bounds: ReaderBounds
  readonly wakeUps: () => number
  batches: LogBatch[]
  /** The size of the batches. */
  bytes: number
  /** The last sequence number that was read. */
  end: number
  newest: LogBatch | undefined
  fresh: number
  reading: Promise<void> | undefined
}

/**
 * Subscribers at the end of the read part share the next read, so that a wake-up costs one read for any
 * number of them, and none if this process wrote the events. A subscriber that is behind gets the latest
 * batches from memory, or reads the store directly.
 */
function createReader(
  store: Store,
  threadId: string,
  bounds: ReaderBounds,
  wakeUps: () => number,
): LogReader {
  const known: ReadPart = {
    store,
    threadId,
    bounds,
    wakeUps,
    batches: [],
    bytes: 0,
    end: -1,
    newest: undefined,
    fresh: -1,
    reading: undefined,
  }
  return {
    fresh: () => known.fresh,
    appended: (batch, isNewest) => addAppended(known, batch, isNewest),
    read: (query) => readFrom(known, query),
  }
}

async function readFrom(
  known: ReadPart,
  { after, limit = Number.POSITIVE_INFINITY }: ReadQuery,
): Promise<LogBatch> {
  const { store, threadId, bounds, wakeUps } = known
  for (;;) {
    const { newest, end } = known
    const batch = known.batches.findLast(({ first }) => first <= after + 1)
    if (batch && newest && after < batch.first + batch.count - 1) return part(batch, after, limit, newest)
    if (after < end)
      return store.read(threadId, { after, maxBytes: bounds.read, ...(limit < Infinity && { limit }) })
    if (after > end) startAt(known, after)
    if (newest && known.fresh === wakeUps()) return part(newest, after, 0, newest)
    await (known.reading ??= readOn(known))
  }
}

async function readOn(known: ReadPart): Promise<void> {
  const { store, threadId, bounds, end: from } = known
  const seen = known.wakeUps()
  try {
    const batch = await store.read(threadId, { after: from, maxBytes: bounds.read })
    if (from !== known.end) return
    known.newest = batch
    // The store lost events that were read, and will assign these sequence numbers again.
    if (batch.head < known.end) known.batches = []
    if (batch.count > 0) keep(known, batch)
    if (batch.count === 0 || known.end >= batch.head) known.fresh = seen
  } finally {
    known.reading = undefined
  }
}

function addAppended(known: ReadPart, batch: LogBatch, isNewest: boolean): void {
  const { batches, end, newest } = known
  const last = batches.at(-1)
  // Its numbers were those of an earlier writer: the store has lost what was read.
  const isReplaced = last && batch.first <= end && writerOf(last, last.count - 1) < writerOf(batch, 0)
  // No subscriber has read this far yet, or one has read it from the store.
  if (end >= 0 && batch.first !== end + 1 && !isReplaced) return
  if (end < 0 || isReplaced) startAt(known, batch.first - 1)
  const { firstRetained = batch.firstRetained } = newest ?? {}
  known.newest = { ...batch, firstRetained }
  keep(known, known.newest)
  if (isNewest) known.fresh = known.wakeUps()
}

/** Called for the first subscriber and for one nearer to the head: shared reads continue from there. */
function startAt(known: ReadPart, after: number): void {
  known.batches = []
  known.bytes = 0
  known.end = after
  known.fresh = -1
}

function keep(known: ReadPart, batch: LogBatch): void {
  // The log was trimmed beyond the position that was read.
  if (batch.first > known.end + 1) startAt(known, batch.first - 1)
  // The store may have lost events that were read, and assigned their sequence numbers to those of a later
  // writer.
  const last = known.batches.at(-1)
  if (last && writerOf(last, last.count - 1) !== writerOf(batch, 0)) {
    known.batches = []
    known.bytes = 0
  }
  const { batches, bounds } = known
  batches.push(batch)
  known.bytes += batch.bytes.length
  known.end = batch.first + batch.count - 1
  while (batches.length > bounds.most || (batches.length > bounds.least && known.bytes > bounds.kept))
    known.bytes -= batches.shift()!.bytes.length
}

/** The fencing token that an event of a batch was written with. */
const writerOf = ({ origins, originOf }: LogBatch, at: number): number => origins[originOf[at]!]!.token

/**
 * The part of a batch after a sequence number, with the newest known head of the log. It shares the batch's
 * bytes.
 */
function part(
  { first, count, bytes, offsets, origins, originOf }: LogBatch,
  after: number,
  limit: number,
  { head, firstRetained }: LogBatch,
): LogBatch {
  const from = Math.min(after + 1 - first, count)
  const to = Math.min(count, from + limit)
  return {
    first: after + 1,
    count: to - from,
    bytes,
    offsets: offsets.subarray(from, to + 1),
    origins,
    originOf: originOf.subarray(from, to),
    head,
    firstRetained,
  }
}
