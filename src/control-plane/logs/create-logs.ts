import { type OnError, reportError } from '../../core/http/index.ts'
import { nextTurn, within } from '../../core/time.ts'
import type { Store } from '../../storage/store/store.ts'
import { refusal } from '../errors.ts'
import {
  LOG_LEVELS,
  type LogLimits,
  type LogLine,
  type LogPage,
  type LogPlace,
  type LogQuery,
  type Logs,
  partitionOf,
} from './logs.ts'
import { type Bounds, decodeLines, type LogRecord, loadState, type NumberedLine } from './segments.ts'
import { createLogWriter, type LogWriter } from './writer.ts'

interface LogsOptions {
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

interface Span {
  readonly first: number
  readonly last: number
}

/** Lines per read with a filter. */
const WINDOW = 500

/**
 * A page of a log. The newest lines are read without those before them, and a page by time only reads
 * segments with matching lines. Other filters may scan the whole log.
 */
async function readLogs(
  store: Store,
  place: LogPlace,
  query: LogQuery,
  { maxLines }: Bounds,
): Promise<LogPage> {
  const partition = partitionOf(place)
  const offset = readOffset(query.offset)
  const isAscending = query.order === 'asc'
  const nothing: LogPage = { lines: [], nextOffset: String(offset ?? 0), isEnd: true }
  // A reader that follows the log is usually at its end.
  if (isAscending && offset !== undefined && (await store.inspect(partition)).head <= offset) return nothing
  const { record, head, firstRetained } = await loadState(store, partition)
  if (!record) return nothing

  const first = Math.max(firstRetained, record.segments[0]!.first, head + 1 - maxLines)
  const asked: Span = isAscending
    ? { first: Math.max(first, (offset ?? 0) + 1), last: head }
    : { first, last: Math.min(head, (offset ?? Number.POSITIVE_INFINITY) - 1) }
  const note = () => noteOf(store, partition, query, record, first)
  const lines: LogLine[] = []

  const beginsInGap = isAscending && (offset ?? record.base) + 1 < first
  if (beginsInGap) for (const line of await note()) lines.push(line)

  let scanned = isAscending ? asked.first - 1 : asked.last + 1
  for (const window of windowsOf(asked, record, query)) {
    for (const line of await readWindow(store, partition, window, query)) {
      if (lines.length === query.limit) return { lines, nextOffset: String(scanned), isEnd: false }
      scanned = line.seq
      if (fits(line, query)) lines.push(toLine(line))
    }
    scanned = isAscending ? window.last : window.first
    if (lines.length === query.limit && scanned !== (isAscending ? asked.last : asked.first))
      return { lines, nextOffset: String(scanned), isEnd: false }
    await nextTurn()
  }
  if (isAscending) return { lines, nextOffset: String(Math.max(scanned, asked.last)), isEnd: true }

  const rest = (offset ?? first) >= first ? await note() : []
  if (lines.length + rest.length > query.limit) return { lines, nextOffset: String(first), isEnd: false }
  return { lines: [...lines, ...rest], nextOffset: String(first - 1), isEnd: true }
}

function readOffset(offset: string | undefined): number | undefined {
  if (offset === undefined || offset === '') return undefined
  if (!/^\d{1,15}$/.test(offset)) throw refusal(400, 'offset: expected the next offset of an earlier page.')
  return Number(offset)
}

/** The ranges to read one after another, in query order. */
function* windowsOf({ first, last }: Span, record: LogRecord, query: LogQuery): Iterable<Span> {
  const { order, limit, startTime = Number.NEGATIVE_INFINITY, endTime = Number.POSITIVE_INFINITY } = query
  const size = isFiltered(query) ? WINDOW : Math.min(limit, WINDOW)
  const spans = record.segments.map((segment, at) => ({
    first: Math.max(first, segment.first),
    last: Math.min(last, (record.segments[at + 1]?.first ?? Number.POSITIVE_INFINITY) - 1),
    // The last segment also has the lines written since the record was read.
    isWanted: at === record.segments.length - 1 || (segment.newest >= startTime && segment.oldest <= endTime),
  }))
  const wanted = spans.filter((span) => span.isWanted && span.first <= span.last)
  if (order === 'asc')
    for (const span of wanted)
      for (let at = span.first; at <= span.last; at += size)
        yield { first: at, last: Math.min(at + size - 1, span.last) }
  else
    for (const span of wanted.reverse())
      for (let at = span.last; at >= span.first; at -= size)
        yield { first: Math.max(at - size + 1, span.first), last: at }
}

const isFiltered = ({ revisionId, startTime, endTime, query, level, runId }: LogQuery): boolean =>
  [revisionId, startTime, endTime, query, level, runId].some((filter) => filter !== undefined)

async function readWindow(
  store: Store,
  partition: string,
  { first, last }: Span,
  { order, revisionId }: Pick<LogQuery, 'order' | 'revisionId'>,
): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = []
  for (let after = first - 1; after < last; ) {
    const batch = await store.read(partition, { after, limit: last - after })
    if (batch.count === 0) break
    for (const line of decodeLines(batch, last, revisionId)) lines.push(line)
    after = batch.first + batch.count - 1
  }
  return order === 'asc' ? lines : lines.reverse()
}

function fits(line: LogLine, { startTime, endTime, query, level, runId }: LogQuery): boolean {
  return (
    (startTime === undefined || line.at >= startTime) &&
    (endTime === undefined || line.at <= endTime) &&
    (level === undefined || LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level)) &&
    (runId === undefined || line.runId === runId) &&
    (query === undefined || line.message.toLowerCase().includes(query.toLowerCase()))
  )
}

const toLine = ({ seq, ...line }: NumberedLine): LogLine => line

/** The line that says how many older lines were dropped, if any and if the query is not a search. */
async function noteOf(
  store: Store,
  partition: string,
  query: LogQuery,
  { base, segments: [segment] }: LogRecord,
  first: number,
): Promise<readonly LogLine[]> {
  // The line about lost lines may be dropped as well.
  const lost = first > segment!.first ? segment!.lost : 0
  const dropped = first - 1 - base + lost
  const { revisionId, level = 'DEBUG', ...rest } = query
  const isSearch = isFiltered({ ...rest, level: undefined, revisionId: undefined })
  if (dropped <= 0 || isSearch || LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf('WARNING')) return []
  const [oldest] = await readWindow(store, partition, { first, last: first }, { order: 'asc', revisionId })
  if (!oldest) return []
  return [
    {
      id: 'dropped',
      at: oldest.at,
      level: 'WARNING',
      message: `${dropped} older lines were dropped: this log keeps its newest lines only.`,
      revisionId: oldest.revisionId,
    },
  ]
}
