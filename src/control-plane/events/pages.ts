import type { Store } from '../../storage/index.ts'
import type { LogPlace, Logs } from '../logs/logs.ts'
import { presentLine } from '../present/log.ts'
import { isoTime } from '../present/present.ts'
import { readStatusEvent, STATUS_TOPIC } from '../records/status-event.ts'
import { partitionOf } from '../records/stored.ts'

/** What a stream can be merged of. */
export type EventType = 'status' | 'build' | 'deploy'

/** One event of a log, ready to be sent. */
export interface DeploymentEvent {
  /** Milliseconds since 1970. */
  readonly at: number
  /** How far a reader has come that has it. */
  readonly position: number
  readonly type: EventType
  readonly data: unknown
}

/** Some events of one log that follow each other. */
export interface EventPage {
  readonly type: EventType
  readonly events: readonly DeploymentEvent[]
  /** How far a reader has come that has all of them. */
  readonly position: number
  /** Whether no more are there now. */
  readonly isEnd: boolean
}

/** How many events of a log are read at once. */
const PAGE = 100

/** Changes of the status of a deployment and its revisions, or of one revision. */
export async function readStatusPage(
  store: Store,
  deploymentId: string,
  after: number,
  onlyRevision: string | undefined,
): Promise<EventPage> {
  const batch = await store.read(partitionOf(deploymentId), { after, limit: PAGE })
  const { first, count, bytes, offsets, origins, originOf, head } = batch
  const events: DeploymentEvent[] = []
  for (let i = 0; i < count; i++) {
    if (origins[originOf[i]!]!.topic !== STATUS_TOPIC) continue
    const { revisionId, status, at, reason } = readStatusEvent(bytes.subarray(offsets[i], offsets[i + 1]))
    if (onlyRevision !== undefined && revisionId !== onlyRevision) continue
    const data = {
      type: revisionId === undefined ? 'deployment' : 'revision',
      id: revisionId ?? deploymentId,
      status,
      at: isoTime(at),
      reason: reason ?? null,
    }
    events.push({ at, position: first + i, type: 'status', data })
  }
  // Without events it is before those that are kept.
  const position = Math.max(after, first + count - 1)
  return { type: 'status', events, position, isEnd: position >= head }
}

/** Lines of the build log of a revision, or of the log of the servers. */
export async function readLinePage(
  logs: Logs,
  place: LogPlace,
  after: number,
  revisionId: string | undefined,
): Promise<EventPage> {
  const page = await logs.read(place, { order: 'asc', limit: PAGE, offset: String(after), revisionId })
  const position = Number(page.nextOffset)
  const { type } = place
  const events = page.lines.map((line, i): DeploymentEvent => {
    const next = page.lines[i + 1]
    // The line about dropped lines is before the next one.
    const own = line.id === 'dropped' ? (next ? Number(next.id) - 1 : position) : Number(line.id)
    return { at: line.at, position: own, type, data: presentLine(line) }
  })
  return { type, events, position, isEnd: page.isEnd }
}

/**
 * The events of several logs by their times, each log in its own order. It ends where a page of a log does,
 * because the next event may be earlier than those of the others.
 */
export function mergePages(pages: readonly EventPage[]): readonly DeploymentEvent[] {
  const merged: DeploymentEvent[] = []
  const next = pages.map(() => 0)
  for (;;) {
    let first: number | undefined
    for (const [i, { events, isEnd }] of pages.entries()) {
      const event = events[next[i]!]
      if (!event && !isEnd) return merged
      if (event && (first === undefined || event.at < pages[first]!.events[next[first]!]!.at)) first = i
    }
    if (first === undefined) return merged
    merged.push(pages[first]!.events[next[first]!++]!)
  }
}
