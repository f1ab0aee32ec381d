import type { LogEvent } from '../../storage/store/store.ts'

/** A line that waits to be written. */
export interface QueuedLine {
  readonly at: number
  readonly event: LogEvent
}

/** Lines that wait to be written, at most so many: the oldest go first. */
export interface LineQueue {
  readonly length: number
  /** How many lines were dropped since the last `take`. */
  readonly dropped: number
  push(line: QueuedLine): void
  /** Takes the oldest lines, at least one where there is one. */
  take(maxLines?: number, maxBytes?: number): readonly QueuedLine[]
}

/** The bytes of all queues of the process. */
export interface Budget {
  bytes: number
  readonly maxBytes: number
}

export function createQueue(maxLines: number, maxBytes: number, budget: Budget): LineQueue {
  let lines: QueuedLine[] = []
  /** Where the lines begin that are not taken yet. */
  let start = 0
  let bytes = 0
  let dropped = 0

  const length = () => lines.length - start

  function shift(): QueuedLine {
    const line = lines[start++]!
    count(-sizeOf(line))
    // Seldom, so that a line costs the same however many there are.
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
    get dropped() {
      return dropped
    },
    push(line) {
      lines.push(line)
      count(sizeOf(line))
      while (length() > 1 && (length() > maxLines || bytes > maxBytes || budget.bytes > budget.maxBytes)) {
        shift()
        dropped++
      }
    },
    take(most = Number.POSITIVE_INFINITY, mostBytes = Number.POSITIVE_INFINITY) {
      dropped = 0
      const taken: QueuedLine[] = []
      for (let size = 0; length() > 0 && taken.length < most; ) {
        size += lines[start]!.event.data.length
        if (taken.length > 0 && size > mostBytes) break
        taken.push(shift())
      }
      return taken
    },
  }
}

/** With what an array of bytes and its line occupy beside the bytes. */
const sizeOf = ({ event }: QueuedLine): number => event.data.length + 200
