import { type OnError, reportError } from '../../core/http/index.ts'
import { within } from '../../core/time.ts'
import type { Store } from '../../storage/store/store.ts'
import { type LogLimits, type LogPlace, type Logs, partitionOf } from './logs.ts'
import { readLogs } from './read.ts'
import { createLogWriter, type LogWriter } from './writer.ts'

export interface LogsOptions {
  readonly store: Store
  readonly limits?: LogLimits | undefined
  /** Called for lines that could not be written. */
  readonly onError?: OnError | undefined
}

/** The maximum size of all logs' unwritten lines, in bytes. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024
/** The maximum number of logs without new lines that keep their writer. */
const MAX_WRITERS = 256
/** How long `flush` waits at most, in milliseconds. */
const FLUSH_MS = 10_000

export function createLogs({ store, limits = {}, onError }: LogsOptions): Logs {
  const { maxLines = 10_000, maxBytes = 10_000_000, maxLineLength = 8_192 } = limits
  const bounds = { maxLines, maxBytes }
  const context = {
    store,
    bounds,
    maxLineLength,
    budget: { bytes: 0, maxBytes: MAX_QUEUED_BYTES },
    report: (error: unknown) => void reportError(error, onError),
  }
  const writers = new Map<string, LogWriter>()
  let isClosed = false

  function writerOf(place: LogPlace): LogWriter {
    const partition = partitionOf(place)
    const known = writers.get(partition)
    if (known) return known
    const writer = createLogWriter(context, partition)
    writers.set(partition, writer)
    for (const [key, { isIdle }] of writers) {
      if (writers.size <= MAX_WRITERS) break
      if (isIdle && key !== partition) writers.delete(key)
    }
    return writer
  }

  const flush = () => within(FLUSH_MS, Promise.all([...writers.values()].map((writer) => writer.flush())))

  return {
    append(place, line) {
      if (!isClosed) writerOf(place).push(line)
    },
    read: (place, query) => readLogs(store, place, query, bounds),
    watch: (place, listener) => store.watch(partitionOf(place), listener),
    flush,
    async remove(place) {
      await writerOf(place).remove()
    },
    async close() {
      isClosed = true
      await flush()
      for (const writer of writers.values()) writer.stop()
    },
  }
}
