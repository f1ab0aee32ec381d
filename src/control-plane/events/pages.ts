import type { Store } from '../../storage/index.ts'
import type { LogPlace, Logs } from '../logs/logs.ts'
import { presentLine } from '../present/log.ts'
import { isoTime } from '../present/present.ts'
import { readStatusEvent, STATUS_TOPIC } from '../records/status-event.ts'
import { partitionOf } from '../records/stored.ts'

/** The logs that a stream can merge. */
export type EventType = 'status' | 'build' | 'deploy'

/** One event of a log, ready to send. */
export interface DeploymentEvent {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The position of a reader that has received it. */
  readonly position: number
  readonly type: EventType
  readonly data: unknown
}

/** Consecutive events of one log. */
export interface EventPage {
  readonly type: EventType
  readonly events: readonly DeploymentEvent[]
  /** The position of a reader that has received all of them. */
  readonly position: number
  /** Whether there are no more at the moment. */
  readonly isEnd: boolean
}

/** Events per read of a log. */
const PAGE = 100

/** Status changes of a deployment and its revisions, or of one revision. */
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
  // Without events, it is before the ones that are kept.
  const position = Math.max(after, first + count - 1)
  return { type: 'status', events, position, isEnd: position >= head }
}

/** Lines of a revision's build log, or of the servers' log. */
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
    // The line about dropped lines is placed before the next one.
    const own = line.id === 'dropped' ? (next ? Number(next.id) - 1 : position) : Number(line.id)
    return { at: line.at, position: own, type, data: presentLine(line) }
  })
  return { type, events, position, isEnd: page.isEnd }
}

/**
 * The events of several logs by time, each log in its own order. It ends where a log's page ends, because
 * that log's next event may be earlier than those of the others.
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
