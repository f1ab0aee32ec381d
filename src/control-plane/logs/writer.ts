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
  const { maxLines, maxBytes } = context.bounds
  const writing: Writing = {
    ...context,
    partition,
    queue: createQueue(maxLines, maxBytes, context.budget),
    state: undefined,
    pushed: 0,
    held: undefined,
    flushes: new Set(),
    endWait: () => {},
    isStopped: false,
    running: undefined,
    removing: undefined,
  }
  return {
    get isIdle() {
      return !writing.running && !writing.removing
    },
    push(line: Omit<LogLine, 'id'>): void {
      if (writing.isStopped) return
      writing.pushed++
      writing.queue.push({ at: line.at, event: encodeLine(line, writing.maxLineLength) })
      if (writing.queue.length >= BATCH_LINES) writing.endWait()
      if (!writing.removing) writing.running ??= run(writing)
    },
    /** Resolves when all lines pushed before are written or dropped. */
    flush(): Promise<void> {
      return new Promise((resolve) => {
        writing.flushes.add({ last: writing.pushed, resolve })
        endWaits(writing)
      })
    },
    /** Removes the log. Lines pushed before are no longer written. */
    remove(): Promise<void> {
      writing.queue.take()
      writing.removing ??= removeAfter(writing, writing.running)
      endWaits(writing)
      return writing.removing
    },
    /** Discards unwritten lines. */
    stop(): void {
      writing.isStopped = true
      endWaits(writing)
    },
  }
}

interface Writing extends WriterContext {
  readonly partition: string
  readonly queue: ReturnType<typeof createQueue>
  /** Undefined if it has to be loaded. */
  state: LogState | undefined
  pushed: number
  /** While lines are being written: the number of lines before them. */
  held: number | undefined
  readonly flushes: Set<{ readonly last: number; readonly resolve: () => void }>
  endWait: () => void
  isStopped: boolean
  running: Promise<void> | undefined
  removing: Promise<void> | undefined
}

/** The number of pushed lines that are written or dropped. */
const settled = ({ held, pushed, queue }: Writing): number => held ?? pushed - queue.length

/** `endWait` ends it early. */
function wait(writing: Writing, ms: number, keepsAlive: boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = keepsAlive ? setTimeout(resolve, ms) : startTimer(ms, resolve)
    writing.endWait = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

async function run(writing: Writing): Promise<void> {
  const { queue, flushes } = writing
  while (queue.length > 0 && !writing.isStopped && !writing.removing) {
    if (queue.length < BATCH_LINES && flushes.size === 0) await wait(writing, GATHER_MS, true)
    const { dropped } = queue
    writing.held = settled(writing)
    const lines = queue.take(BATCH_LINES, BATCH_BYTES)
    if (lines.length > 0) {
      const note = dropped > 0 ? [noteOf(dropped, lines[0]!, writing.maxLineLength)] : []
      await persist(writing, [...note, ...lines], dropped)
    }
    writing.held = undefined
    settleFlushes(writing)
  }
  writing.running = undefined
}

function settleFlushes(writing: Writing): void {
  for (const flush of writing.flushes) {
    if (settled(writing) < flush.last && !writing.isStopped) continue
    writing.flushes.delete(flush)
    flush.resolve()
  }
}

function endWaits(writing: Writing): void {
  writing.endWait()
  settleFlushes(writing)
}

/** The line that replaces dropped ones. */
function noteOf(dropped: number, { at, event }: QueuedLine, maxLineLength: number): QueuedLine {
  const message = `${dropped} lines were dropped here: they arrived faster than the storage could write them.`
  const line = { at, level: 'WARNING', message, revisionId: event.topic } as const
  return { at, event: encodeLine(line, maxLineLength) }
}

/** Retries until the lines are written, or cannot be. */
async function persist(writing: Writing, lines: readonly QueuedLine[], lost: number): Promise<void> {
  const commit = uuid7()
  let waitMs = FIRST_WAIT_MS
  while (!writing.isStopped && !writing.removing) {
    try {
      writing.state ??= await loadState(writing.store, writing.partition)
      // The lines were written, but the response was lost.
      if (writing.state.record?.commit === commit) return
      await append(writing, writing.state, lines, lost, commit)
      return
    } catch (error) {
      writing.state = undefined
      if (!(error instanceof ConflictError)) {
        if (!(error instanceof UnavailableError)) return writing.report(error)
        await wait(writing, waitMs, false)
      }
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
    }
  }
}

async function append(
  writing: Writing,
  before: LogState,
  lines: readonly QueuedLine[],
  lost: number,
  commit: string,
): Promise<void> {
  const { store, partition, bounds } = writing
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
  writing.state = { ...before, record, version: versions[0], head }
  const keepLast = Math.min(head + 1 - segments[0]!.first, bounds.maxLines)
  if (excess > 0) await store.trim(partition, { keepLast })
}

async function removeAfter(writing: Writing, written: Promise<void> | undefined): Promise<void> {
  try {
    await written
    writing.state = undefined
    await writing.store.commit(writing.partition, { ops: [{ op: 'clear' }] })
  } finally {
    writing.removing = undefined
    if (writing.queue.length > 0) writing.running ??= run(writing)
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
