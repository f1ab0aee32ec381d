import type { LogEvent } from '../../storage/store/store.ts'

export interface QueuedLine {
  readonly at: number
  readonly event: LogEvent
}

/** The bytes in all queues of the process. */
export interface Budget {
  bytes: number
  readonly maxBytes: number
}

/** A bounded queue of unwritten lines. The oldest are dropped. */
export function createQueue(maxLines: number, maxBytes: number, budget: Budget) {
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
