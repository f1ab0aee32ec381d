import type { LogBatch, LogEvent, LogOrigin, ReadQuery } from './store.ts'

/**
 * One partition's events in memory. Their bytes are contiguous in pages, so that a read is a view and not a
 * copy. The first page is small and each next one is twice as large, so that a short log stays cheap.
 */
export interface EventLog {
  head: number
  firstRetained: number
  /** The memory that the log uses, including slack and bookkeeping. */
  bytes: number
  readonly pages: Page[]
  /** The size that pages grow to. */
  readonly pageBytes: number
  /** The index of each topic of the current writer in the origins of the page it was last used in. */
  readonly topics: Map<string, Interned>
  token: number
}

interface Page {
  readonly first: number
  count: number
  used: number
  bytes: Uint8Array
  /** Event `i` is `bytes[offsets[i] .. offsets[i + 1]]`. */
  offsets: Uint32Array
  originOf: Uint16Array
  readonly origins: LogOrigin[]
  /** When its last event was appended, by the store's clock. */
  lastAt: number
}

interface Interned {
  readonly origin: LogOrigin
  /**
   * The first event of the page that `at` refers to. Not the page itself, which must be free to be collected.
   */
  page: number
  at: number
}

const FIRST_PAGE_BYTES = 1024
const PAGE_BYTES = 65_536
const PAGE_EVENTS = 4096
/** In bytes: the page object, its typed arrays and their buffers. */
const PAGE_OVERHEAD = 640
const INTERNED_TOPICS = 1024

/**
 * Pages grow to 64 KiB, but at most to an eighth of `maxBytes`, because the log loses its events by whole
 * pages.
 */
export function createLog(head: number, maxBytes: number): EventLog {
  const pageBytes = Math.max(FIRST_PAGE_BYTES, Math.min(PAGE_BYTES, maxBytes >> 3))
  return { head, firstRetained: head + 1, bytes: 0, pages: [], pageBytes, topics: new Map(), token: 0 }
}

export function appendEvents(log: EventLog, token: number, events: readonly LogEvent[], now: number): void {
  if (token !== log.token || log.topics.size > INTERNED_TOPICS) {
    log.topics.clear()
    log.token = token
  }
  for (const { topic, data } of events) {
    const page = pageFor(log, data.length)
    const at = page.count
    page.bytes.set(data, page.used)
    page.used += data.length
    if (at + 1 === page.offsets.length) growColumns(log, page)
    page.originOf[at] = originAt(log, page, topic, token)
    page.offsets[at + 1] = page.used
    page.count = at + 1
    page.lastAt = now
    log.head += 1
  }
}

/** Without a copy. The batch ends with its page, so it may be shorter than requested. */
export function readEvents(log: EventLog, query: ReadQuery): LogBatch {
  const { head, firstRetained } = log
  const first = Math.max(query.after + 1, firstRetained)
  if (first > head) return emptyBatch(first, head, firstRetained)
  const page = findPage(log.pages, first)
  const at = first - page.first
  const limit = Math.max(1, Math.min(query.limit ?? 1000, page.count - at))
  const count = countWithin(page.offsets, at, limit, query.maxBytes ?? PAGE_BYTES)
  return {
    first,
    count,
    bytes: page.bytes,
    offsets: page.offsets.subarray(at, at + count + 1),
    origins: page.origins,
    originOf: page.originOf.subarray(at, at + count),
    head,
    firstRetained,
  }
}

/** Shared by all empty batches: every reader at the head gets one. */
const NOTHING = {
  count: 0,
  bytes: new Uint8Array(0),
  offsets: new Uint32Array(1),
  origins: [],
  originOf: new Uint16Array(0),
}

export function emptyBatch(first: number, head: number, firstRetained: number): LogBatch {
  return { ...NOTHING, first, head, firstRetained }
}

export function dropOldestPage(log: EventLog): void {
  const page = log.pages.shift()!
  log.bytes -= costOf(page)
  log.firstRetained = Math.max(log.firstRetained, page.first + page.count)
  if (log.pages.length === 0) log.topics.clear()
}

export function keepLast(log: EventLog, count: number): void {
  log.firstRetained = Math.max(log.firstRetained, log.head - count + 1)
  while (log.pages.length > 0 && endOf(log.pages[0]!) < log.firstRetained) dropOldestPage(log)
}

/** Only whole pages: an old event is dropped when the last event of its page is old. */
export function dropOlderThan(log: EventLog, time: number): void {
  while (log.pages.length > 0 && log.pages[0]!.lastAt < time) dropOldestPage(log)
}

function endOf(page: Page): number {
  return page.first + page.count - 1
}

function costOf(page: Page): number {
  return page.bytes.length + page.offsets.byteLength + page.originOf.byteLength + PAGE_OVERHEAD
}

function pageFor(log: EventLog, size: number): Page {
  const open = log.pages.at(-1)
  if (open && open.count < PAGE_EVENTS && open.used + size <= open.bytes.length) return open
  if (open) seal(log, open)
  const page: Page = {
    first: log.head + 1,
    count: 0,
    used: 0,
    bytes: new Uint8Array(Math.max(size, open ? nextSize(log, open) : FIRST_PAGE_BYTES)),
    offsets: new Uint32Array(9),
    originOf: new Uint16Array(8),
    origins: [],
    lastAt: 0,
  }
  log.pages.push(page)
  log.bytes += costOf(page)
  return page
}

function nextSize({ pageBytes }: EventLog, before: Page): number {
  let size = FIRST_PAGE_BYTES
  while (size <= before.used && size < pageBytes) size *= 2
  return Math.min(size * 2, pageBytes)
}

/** Releases the unused part of a full page. Views returned earlier keep the old arrays. */
function seal(log: EventLog, page: Page): void {
  log.bytes -= costOf(page)
  if (page.bytes.length - page.used > page.bytes.length >> 3) page.bytes = page.bytes.slice(0, page.used)
  page.offsets = page.offsets.slice(0, page.count + 1)
  page.originOf = page.originOf.slice(0, page.count)
  log.bytes += costOf(page)
}

function growColumns(log: EventLog, page: Page): void {
  log.bytes -= costOf(page)
  const offsets = new Uint32Array(page.originOf.length * 2 + 1)
  offsets.set(page.offsets)
  const originOf = new Uint16Array(page.originOf.length * 2)
  originOf.set(page.originOf)
  page.offsets = offsets
  page.originOf = originOf
  log.bytes += costOf(page)
}

function originAt(log: EventLog, page: Page, topic: string, token: number): number {
  const known = log.topics.get(topic)
  if (known?.page === page.first) return known.at
  const origin = known?.origin ?? { topic, token }
  const at = page.origins.push(origin) - 1
  if (known) {
    known.page = page.first
    known.at = at
  } else {
    log.topics.set(topic, { origin, page: page.first, at })
  }
  return at
}

function findPage(pages: readonly Page[], seq: number): Page {
  let low = 0
  let high = pages.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (pages[middle]!.first <= seq) low = middle
    else high = middle - 1
  }
  return pages[low]!
}

function countWithin(offsets: Uint32Array, at: number, limit: number, maxBytes: number): number {
  const end = offsets[at]! + maxBytes
  let low = 1
  let high = limit
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (offsets[at + middle]! <= end) low = middle
    else high = middle - 1
  }
  return low
}
