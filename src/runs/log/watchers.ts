import type { LogBatch, PartitionChange, ReadQuery, Store } from '../../storage/store/store.ts'
import { directReader, type LogReader, sharedReader } from '../log-reader.ts'

/** The readers of this process: one watch on the store for each thread that is read, one timer for all of them. */
export interface LogWatchers {
  /** `onEnd` is told when the server ends the reader. */
  open(threadId: string, onEnd: (how: ReaderEnd) => void): LogWatcher
  /** Ends every reader of a thread at once. */
  drop(threadId: string, reason: Error): void
  /** Ends every reader once it has read what is in the log. */
  close(reason: Error): void
}

export interface ReaderEnd {
  readonly reason: Error
  readonly at: 'once' | 'head'
}

export interface LogWatcher {
  /** Counts rings. Take it before a read: when it has moved by the time of `wait`, the read may have missed something. */
  wakeUps(): number
  /** Settles at the next ring after `seen`, or when the tail is closed. */
  wait(seen: number): Promise<void>
  /** As `store.read`. */
  read(query: ReadQuery): Promise<LogBatch>
  /** Whether the head of what was read is that of the log, as far as `seen` rings told. */
  isFresh(seen: number): boolean
  /** Counts the rings that told of records. */
  changes(): number
  close(): void
}

/** Bells of a shared store may be lost: nobody waits longer than this for what is in the log. */
const RECHECK_MS = 1_000
/** Not all threads at once: a store has few connections. */
const SHARES = 10

interface WatchedLog {
  readonly share: number
  wakeUps: number
  changes: number
  readonly reader: LogReader
  readonly waiters: Set<() => void>
  readonly readers: Set<(how: ReaderEnd) => void>
  readonly off: () => void
}

export function createLogWatchers(store: Store): LogWatchers {
  const threads = new Map<string, WatchedLog>()
  let timer: ReturnType<typeof setInterval> | undefined
  let joined = 0
  let turn = 0

  function join(threadId: string): WatchedLog {
    const known = threads.get(threadId)
    if (known) return known
    const isShared = store.capabilities.shared
    const shared: WatchedLog = {
      share: joined++ % SHARES,
      wakeUps: 0,
      changes: 0,
      reader: isShared ? sharedReader(store, threadId, () => shared.wakeUps) : directReader(store, threadId),
      waiters: new Set(),
      readers: new Set(),
      off: store.watch(threadId, (bell) => ring(shared, bell)),
    }
    threads.set(threadId, shared)
    if (isShared) timer ??= setInterval(recheck, RECHECK_MS / SHARES)
    return shared
  }

  function recheck(): void {
    turn = (turn + 1) % SHARES
    for (const shared of threads.values()) if (shared.share === turn) ring(shared)
  }

  function leave(threadId: string, shared: WatchedLog): void {
    if (shared.readers.size > 0 || threads.get(threadId) !== shared) return
    shared.off()
    threads.delete(threadId)
    if (threads.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(threadId: string, how: ReaderEnd): void {
    for (const onEnd of [...(threads.get(threadId)?.readers ?? [])]) onEnd(how)
  }

  return {
    open(threadId, onEnd) {
      const shared = join(threadId)
      // A function of its own, so that two readers with one callback stay two.
      const reader = (how: ReaderEnd) => onEnd(how)
      shared.readers.add(reader)
      let wake = () => {}
      let closed = false
      return {
        wakeUps: () => shared.wakeUps,
        wait: (seen) =>
          new Promise((resolve) => {
            if (closed || shared.wakeUps !== seen) return resolve()
            wake = resolve
            shared.waiters.add(resolve)
          }),
        read: shared.reader.read,
        isFresh: (seen) => shared.reader.fresh() >= seen,
        changes: () => shared.changes,
        close() {
          closed = true
          shared.waiters.delete(wake)
          wake()
          shared.readers.delete(reader)
          leave(threadId, shared)
        },
      }
    },
    drop: (threadId, reason) => end(threadId, { reason, at: 'once' }),
    close(reason) {
      for (const [threadId, shared] of [...threads]) {
        // Nobody has read what no bell has told of yet.
        ring(shared)
        end(threadId, { reason, at: 'head' })
      }
    },
  }
}

function ring(shared: WatchedLog, bell?: PartitionChange): void {
  shared.wakeUps++
  if (bell?.docs) shared.changes++
  const waiters = [...shared.waiters]
  shared.waiters.clear()
  for (const wake of waiters) wake()
}
