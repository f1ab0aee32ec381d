import { uuid7 } from '../../core/ids.ts'
import { startTimer } from '../../core/time.ts'
import { ConflictError, UnavailableError } from '../../storage/errors.ts'
import type { LogEvent, Store } from '../../storage/store/store.ts'
import type { LogLine } from './logs.ts'
import {
  type Bounds,
  encodeLine,
  extend,
  type LogState,
  loadState,
  putRecordOp,
  recordGuard,
  surplus,
} from './segments.ts'

interface WriterContext {
  readonly store: Store
  readonly bounds: Bounds
  readonly maxLineLength: number
  readonly budget: Budget
  readonly report: (error: unknown) => void
}

/** How long lines are collected, in milliseconds, and how many are written at once. */
const GATHER_MS = 100
const BATCH_LINES = 500
const BATCH_BYTES = 1_048_576
/** The delays while the store is unavailable, in milliseconds. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5_000

/** Writes one log's lines in order, in batches. */
export type LogWriter = ReturnType<typeof createLogWriter>

export function createLogWriter(context: WriterContext, partition: string) {
  const { store, bounds, maxLineLength, report } = context
  const queue = createQueue(bounds.maxLines, bounds.maxBytes, context.budget)
  let state: LogState | undefined
  let pushed = 0
  /** While lines are being written: the number of lines before them. */
  let held: number | undefined
  const flushes = new Set<{ readonly last: number; readonly resolve: () => void }>()
  let endWait = () => {}
  let isStopped = false
  let running: Promise<void> | undefined
  let removing: Promise<void> | undefined

  /** The number of pushed lines that are written or dropped. */
  const settled = () => held ?? pushed - queue.length

  /** `endWait` ends it early. */
  function wait(ms: number, keepsAlive: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = keepsAlive ? setTimeout(resolve, ms) : startTimer(ms, resolve)
      endWait = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    while (queue.length > 0 && !isStopped && !removing) {
      if (queue.length < BATCH_LINES && flushes.size === 0) await wait(GATHER_MS, true)
      const { dropped } = queue
      held = settled()
      const lines = queue.take(BATCH_LINES, BATCH_BYTES)
      if (lines.length > 0)
        await persist(dropped > 0 ? [noteOf(dropped, lines[0]!), ...lines] : lines, dropped)
      held = undefined
      settleFlushes()
    }
    running = undefined
  }

  function settleFlushes(): void {
    for (const flush of flushes) {
      if (settled() < flush.last && !isStopped) continue
      flushes.delete(flush)
      flush.resolve()
    }
  }

  /** The line that replaces dropped ones. */
  function noteOf(dropped: number, { at, event }: QueuedLine): QueuedLine {
    const message = `${dropped} lines were dropped here: they arrived faster than the storage could write them.`
    const line = { at, level: 'WARNING', message, revisionId: event.topic } as const
    return { at, event: encodeLine(line, maxLineLength) }
  }

  /** Retries until the lines are written, or cannot be. */
  async function persist(lines: readonly QueuedLine[], lost: number): Promise<void> {
    const commit = uuid7()
    for (let waitMs = FIRST_WAIT_MS; !isStopped && !removing; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        state ??= await loadState(store, partition)
        // The lines were written, but the response was lost.
        if (state.record?.commit === commit) return
        await append(state, lines, lost, commit)
        return
      } catch (error) {
        state = undefined
        if (error instanceof ConflictError) continue
        if (!(error instanceof UnavailableError)) return report(error)
        await wait(waitMs, false)
      }
    }
  }

  async function append(before: LogState, lines: readonly QueuedLine[], lost: number, commit: string) {
    const times = lines.map(({ at }) => at)
    const added = {
      first: before.head + 1,
      bytes: lines.reduce((sum, { event }) => sum + event.data.length, 0),
      oldest: times.reduce((a, b) => Math.min(a, b)),
      newest: times.reduce((a, b) => Math.max(a, b)),
      lost,
    }
    const head = before.head + lines.length
    const all = extend(before.record?.segments ?? [], before.head, added, bounds)
    const excess = surplus(all, head, bounds)
    const uncounted = all.slice(0, excess).reduce((sum, segment) => sum + segment.lost, 0)
    const base = (before.record?.base ?? before.head) - uncounted
    const segments = all.slice(excess)
    const record = { segments, base, commit }
    const { versions } = await store.commit(partition, {
      guards: [recordGuard(before.version)],
      ops: [{ op: 'append', token: 0, events: lines.map(({ event }) => event) }, putRecordOp(record)],
    })
    state = { ...before, record, version: versions[0], head }
    const keepLast = Math.min(head + 1 - segments[0]!.first, bounds.maxLines)
    if (excess > 0) await store.trim(partition, { keepLast })
  }

  async function removeAfter(writing: Promise<void> | undefined): Promise<void> {
    try {
      await writing
      state = undefined
      await store.commit(partition, { ops: [{ op: 'clear' }] })
    } finally {
      removing = undefined
      if (queue.length > 0) running ??= run()
    }
  }

  return {
    get isIdle() {
      return !running && !removing
    },
    push(line: Omit<LogLine, 'id'>): void {
      if (isStopped) return
      pushed++
      queue.push({ at: line.at, event: encodeLine(line, maxLineLength) })
      if (queue.length >= BATCH_LINES) endWait()
      if (!removing) running ??= run()
    },
    /** Resolves when all lines pushed before are written or dropped. */
    flush(): Promise<void> {
      return new Promise((resolve) => {
        flushes.add({ last: pushed, resolve })
        endWait()
        settleFlushes()
      })
    },
    /** Removes the log. Lines pushed before are no longer written. */
    remove(): Promise<void> {
      queue.take()
      removing ??= removeAfter(running)
      endWait()
      settleFlushes()
      return removing
    },
    /** Discards unwritten lines. */
    stop(): void {
      isStopped = true
      endWait()
      settleFlushes()
    },
  }
}

interface QueuedLine {
  readonly at: number
  readonly event: LogEvent
}

/** The bytes in all queues of the process. */
interface Budget {
  bytes: number
  readonly maxBytes: number
}

/** A bounded queue of unwritten lines. The oldest are dropped. */
function createQueue(maxLines: number, maxBytes: number, budget: Budget) {
  let lines: QueuedLine[] = []
  /** The index of the first line that is not taken yet. */
  let start = 0
  let bytes = 0
  let dropped = 0

  const length = () => lines.length - start

  function shift(): QueuedLine {
    const line = lines[start++]!
    count(-sizeOf(line))
    // Rarely, so that the cost per line does not grow with their number.
    if (start > 1_000 && start > lines.length / 2) {
      lines = lines.slice(start)
      start = 0
    }
    return line
  }

  function count(added: number): void {
    bytes += added
    budget.bytes += added
  }

  return {
    get length() {
      return length()
    },
    /** The number of lines dropped since the last `take`. */
    get dropped() {
      return dropped
    },
    push(line: QueuedLine): void {
      lines.push(line)
      count(sizeOf(line))
      while (length() > 1 && (length() > maxLines || bytes > maxBytes || budget.bytes > budget.maxBytes)) {
        shift()
        dropped++
      }
    },
    /** Takes the oldest lines, at least one if there is one. */
    take(mostLines = Number.POSITIVE_INFINITY, mostBytes = Number.POSITIVE_INFINITY): readonly QueuedLine[] {
      dropped = 0
      const taken: QueuedLine[] = []
      for (let size = 0; length() > 0 && taken.length < mostLines; ) {
        size += lines[start]!.event.data.length
        if (taken.length > 0 && size > mostBytes) break
        taken.push(shift())
      }
      return taken
    },
  }
}

/** Includes the overhead of a byte array and its line. */
const sizeOf = ({ event }: QueuedLine): number => event.data.length + 200
