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
    const isShared = store.capabilities.shared
    const log: WatchedLog = {
      slot: joinCount++ % RECHECK_SLOTS,
      origins: { token: 0, byTopic: new Map() },
      appendingSince: undefined,
      wakeUps: 0,
      changes: 0,
      head: 0,
      reader: createReader(store, threadId, isShared ? SHARED : LOCAL, () => log.wakeUps),
      waiters: new Set(),
      subscribers: new Set(),
      unwatch: store.watch(threadId, (change) => wakeUp(log, change)),
    }
    logs.set(threadId, log)
    if (isShared) timer ??= setInterval(recheck, RECHECK_MS / RECHECK_SLOTS)
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
      const subscriber: Subscriber = { isReader, onEnd, after: undefined }
      log.subscribers.add(subscriber)
      if (isReader) unread.get(threadId)?.()
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
          leave(threadId, log)
        },
      }
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
    async append(threadId, { before, token, events }, commit) {
      const log = logs.get(threadId)
      if (!log) return commit()
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
    },
    drop: (threadId, reason) => end(threadId, { reason, at: 'once' }),
    close(reason) {
      for (const [threadId, log] of [...logs]) {
        // The log may contain events that no notification has announced yet.
        wakeUp(log)
        end(threadId, { reason, at: 'head' })
      }
    },
    measure() {
      let count = 0
      let lag = 0
      for (const { subscribers, head } of logs.values()) {
        count += subscribers.size
        for (const { after = head } of subscribers) lag = Math.max(lag, head - after)
      }
      return { subscribers: count, lag }
    },
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
  let kept: LogBatch[] = []
  let bytes = 0
  /** The last sequence number that was read. */
  let end = -1
  let newest: LogBatch | undefined
  let fresh = -1
  let reading: Promise<void> | undefined

  /** Called for the first subscriber and for one nearer to the head: shared reads continue from there. */
  function startAt(after: number): void {
    kept = []
    bytes = 0
    end = after
    fresh = -1
  }

  async function readOn(): Promise<void> {
    const from = end
    const seen = wakeUps()
    try {
      const batch = await store.read(threadId, { after: from, maxBytes: bounds.read })
      if (from !== end) return
      newest = batch
      // The store lost events that were read, and will assign these sequence numbers again.
      if (batch.head < end) kept = []
      if (batch.count > 0) keep(batch)
      if (batch.count === 0 || end >= batch.head) fresh = seen
    } finally {
      reading = undefined
    }
  }

  function keep(batch: LogBatch): void {
    // The log was trimmed beyond the position that was read.
    if (batch.first > end + 1) startAt(batch.first - 1)
    // The store may have lost events that were read, and assigned their sequence numbers to those of a later
    // writer.
    const last = kept.at(-1)
    if (last && writerOf(last, last.count - 1) !== writerOf(batch, 0)) [kept, bytes] = [[], 0]
    kept.push(batch)
    bytes += batch.bytes.length
    end = batch.first + batch.count - 1
    while (kept.length > bounds.most || (kept.length > bounds.least && bytes > bounds.kept))
      bytes -= kept.shift()!.bytes.length
  }

  return {
    fresh: () => fresh,
    appended(batch, isNewest) {
      const last = kept.at(-1)
      // Its numbers were those of an earlier writer: the store has lost what was read.
      const isReplaced = last && batch.first <= end && writerOf(last, last.count - 1) < writerOf(batch, 0)
      // No subscriber has read this far yet, or one has read it from the store.
      if (end >= 0 && batch.first !== end + 1 && !isReplaced) return
      if (end < 0 || isReplaced) startAt(batch.first - 1)
      const { firstRetained = batch.firstRetained } = newest ?? {}
      newest = { ...batch, firstRetained }
      keep(newest)
      if (isNewest) fresh = wakeUps()
    },
    async read({ after, limit = Number.POSITIVE_INFINITY }) {
      for (;;) {
        const batch = kept.findLast(({ first }) => first <= after + 1)
        if (batch && newest && after < batch.first + batch.count - 1) return part(batch, after, limit, newest)
        if (after < end)
          return store.read(threadId, { after, maxBytes: bounds.read, ...(limit < Infinity && { limit }) })
        if (after > end) startAt(after)
        if (newest && fresh === wakeUps()) return part(newest, after, 0, newest)
        await (reading ??= readOn())
      }
    },
  }
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
