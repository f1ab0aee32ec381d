import { uuid7 } from '../../ids.ts'
import { ConflictError, UnavailableError } from '../../storage/errors.ts'
import type { Store } from '../../storage/store/store.ts'
import { startTimer } from '../../time.ts'
import { encodeLine } from './entry.ts'
import type { LogLine } from './logs.ts'
import { type Budget, createQueue, type QueuedLine } from './queue.ts'
import {
  type Bounds,
  extend,
  type LogState,
  loadState,
  putRecordOp,
  recordGuard,
  surplus,
} from './segments.ts'

export interface WriterContext {
  readonly store: Store
  readonly bounds: Bounds
  readonly maxLineLength: number
  readonly budget: Budget
  readonly report: (error: unknown) => void
}

/** Writes the lines of one log in their order, some at once. */
export interface LogWriter {
  readonly isIdle: boolean
  push(line: Omit<LogLine, 'id'>): void
  /** Settles when all lines that were pushed before are written or dropped. */
  flush(): Promise<void>
  /** Removes the log. Lines that were pushed before are not written any more. */
  remove(): Promise<void>
  /** Gives up what is not written. */
  stop(): void
}

/** How long lines are gathered, in milliseconds, and how many are written at once. */
const GATHER_MS = 100
const BATCH_LINES = 500
const BATCH_BYTES = 1_048_576
/** The waits while the store is away, in milliseconds. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5_000

export function createLogWriter(context: WriterContext, partition: string): LogWriter {
  const { store, bounds, maxLineLength, report } = context
  const queue = createQueue(bounds.maxLines, bounds.maxBytes, context.budget)
  let state: LogState | undefined
  let pushed = 0
  /** While lines are being written: how many there were before them. */
  let held: number | undefined
  const flushes = new Set<() => void>()
  let endWait = () => {}
  let isStopped = false
  let running: Promise<void> | undefined
  let removing: Promise<void> | undefined

  const settled = () => held ?? pushed - queue.length

  /** Ends early where somebody waits for the lines. */
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
      checkFlushes()
    }
    running = undefined
  }

  function checkFlushes(): void {
    for (const check of [...flushes]) check()
  }

  /** The note is a line like the others, in the place of those that are lost. */
  const noteOf = (dropped: number, { at, event }: QueuedLine): QueuedLine => {
    const message = `${dropped} lines were dropped here: they came faster than the storage took them.`
    return {
      at,
      event: encodeLine({ at, level: 'WARNING', message, revisionId: event.topic }, maxLineLength),
    }
  }

  /** Goes on until the lines are written, or cannot be. */
  async function persist(lines: readonly QueuedLine[], lost: number): Promise<void> {
    const commit = uuid7()
    for (let waitMs = FIRST_WAIT_MS; !isStopped && !removing; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        state ??= await loadState(store, partition)
        // Its answer was lost.
        if (state.record?.commit === commit) return
        const { head, excess } = await append(state, lines, lost, commit)
        if (excess > 0) await trim(head)
        return
      } catch (error) {
        state = undefined
        if (error instanceof ConflictError) continue
        if (!(error instanceof UnavailableError)) return report(error)
        await wait(waitMs, false)
      }
    }
  }

  async function trim(head: number): Promise<void> {
    const kept = head + 1 - state!.record!.segments[0]!.first
    await store.trim(partition, { keepLast: Math.min(kept, bounds.maxLines) })
  }

  async function append(before: LogState, lines: readonly QueuedLine[], lost: number, commit: string) {
    const times = lines.map(({ at }) => at)
    const added = {
      first: before.head + 1,
      bytes: lines.reduce((sum, { event }) => sum + event.data.length, 0),
      oldest: Math.min(...times),
      newest: Math.max(...times),
      lost,
    }
    const head = before.head + lines.length
    const all = extend(before.record?.segments ?? [], before.head, added, bounds)
    const excess = surplus(all, head, bounds)
    const uncounted = all.slice(0, excess).reduce((sum, segment) => sum + segment.lost, 0)
    const base = (before.record?.base ?? before.head) - uncounted
    const record = { segments: all.slice(excess), base, commit }
    const { versions } = await store.commit(partition, {
      guards: [recordGuard(before.version)],
      ops: [{ op: 'append', token: 0, events: lines.map(({ event }) => event) }, putRecordOp(record)],
    })
    state = { ...before, record, version: versions[0], head }
    return { head, excess }
  }

  return {
    get isIdle() {
      return !running && !removing
    },
    push(line) {
      if (isStopped) return
      const event = encodeLine(line, maxLineLength)
      pushed++
      queue.push({ at: line.at, event })
      if (queue.length >= BATCH_LINES) endWait()
      if (!removing) running ??= run()
    },
    flush() {
      const last = pushed
      return new Promise((resolve) => {
        const check = () => {
          if (settled() < last && !isStopped) return
          flushes.delete(check)
          resolve()
        }
        flushes.add(check)
        endWait()
        check()
      })
    },
    remove() {
      queue.take()
      removing ??= removeAfter(running)
      endWait()
      checkFlushes()
      return removing
    },
    stop() {
      isStopped = true
      endWait()
      checkFlushes()
    },
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
}
