import { concatBytes } from '../../core/bytes.ts'
import { encodeSse, type StreamSource } from '../../core/http/index.ts'
import { watchChanges } from '../../storage/coordination/changes.ts'
import type { Store } from '../../storage/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { refusal } from '../errors.ts'
import { type LogPlace, type Logs, partitionOf as logPartitionOf } from '../logs/logs.ts'
import { isoTime, presentLine } from '../present.ts'
import type { DeploymentRecord } from '../records/records.ts'
import { partitionOf, readStatusEvent, STATUS_TOPIC } from '../records/stored.ts'

interface EventStreamOptions {
  readonly deploymentId: string
  readonly owner: string | null
  readonly types: ReadonlySet<EventType>
  /** Only the events of this revision. */
  readonly revisionId: string | undefined
  /** The position to continue from. */
  readonly after: Cursor | undefined
}

/**
 * Status changes of a deployment, and lines of its newest build and of its servers. A reader is only a
 * position in each log, and pulls. It ends with `deleted`.
 */
export function deploymentEvents(
  { store, logs, deployments }: Pick<ControlPlaneContext, 'store' | 'logs' | 'deployments'>,
  { after, ...options }: EventStreamOptions,
): StreamSource {
  const { deploymentId, owner, types, revisionId } = options
  const start: Cursor = { status: 0, build: 0, deploy: 0, revisionId: null, ...after }
  const isOfOther = revisionId !== undefined && start.revisionId !== revisionId
  const reader: Reader = {
    ...options,
    store,
    logs,
    changes: watchChanges(store, partitionOf(deploymentId), () => true),
    cursor: isOfOther ? { ...start, revisionId, build: 0 } : start,
  }
  const { changes } = reader
  let isOver = false
  if (types.has('deploy')) changes.watch(logPartitionOf({ type: 'deploy', deploymentId }))

  return {
    async next() {
      while (!isOver) {
        const deployment = await deployments.find(owner, deploymentId)
        if (!deployment) {
          isOver = true
          const data = JSON.stringify({ type: 'deployment', id: deploymentId })
          return encodeSse({ id: formatCursor(reader.cursor), event: 'deleted', data })
        }
        const pages = await readPages(reader, deployment)
        const frames = framesOf(reader, pages)
        if (frames.length > 0) return concatBytes(frames)
        if (pages.every(({ isEnd }) => isEnd)) await changes.next(Number.POSITIVE_INFINITY)
      }
      return undefined
    },
    cancel() {
      isOver = true
      changes.close()
    },
  }
}

interface Reader extends Omit<EventStreamOptions, 'after'> {
  readonly store: Store
  readonly logs: Logs
  readonly changes: ReturnType<typeof watchChanges>
  cursor: Cursor
}

/** The build log of an older revision is read to its end before that of the newest one starts. */
async function readBuild(
  reader: Reader,
  { latestRevisionId }: DeploymentRecord,
): Promise<EventPage | undefined> {
  const { deploymentId, logs, changes } = reader
  const newest = reader.revisionId ?? latestRevisionId
  if (newest === null) return undefined
  for (;;) {
    const current: string = reader.cursor.revisionId ?? newest
    reader.cursor = { ...reader.cursor, revisionId: current }
    const place: LogPlace = { type: 'build', deploymentId, revisionId: current }
    changes.watch(logPartitionOf(place))
    const page = await readLinePage(logs, place, reader.cursor.build, undefined)
    if (current === newest || page.events.length > 0 || !page.isEnd) return page
    changes.unwatch(logPartitionOf(place))
    reader.cursor = { ...reader.cursor, revisionId: newest, build: 0 }
  }
}

async function readPages(reader: Reader, deployment: DeploymentRecord): Promise<readonly EventPage[]> {
  const { store, logs, deploymentId, types, revisionId, cursor } = reader
  const pages = await Promise.all([
    types.has('status') ? readStatusPage(store, deploymentId, cursor.status, revisionId) : undefined,
    types.has('build') ? readBuild(reader, deployment) : undefined,
    types.has('deploy')
      ? readLinePage(logs, { type: 'deploy', deploymentId }, cursor.deploy, revisionId)
      : undefined,
  ])
  return pages.filter((page) => page !== undefined)
}

/** The frames of new events, at most a page of each log. */
function framesOf(reader: Reader, pages: readonly EventPage[]): readonly Uint8Array[] {
  const events = mergePages(pages)
  const frames = events.map(({ type, position, data }) => {
    reader.cursor = { ...reader.cursor, [type]: position }
    return encodeSse({ id: formatCursor(reader.cursor), event: type, data: JSON.stringify(data) })
  })
  // Events that a filter has left out are not read again.
  for (const { type, events: all, position } of pages)
    if (events.filter((event) => event.type === type).length === all.length)
      reader.cursor = { ...reader.cursor, [type]: position }
  return frames
}

/** A reader's position: its last sequence number in each log. */
interface Cursor {
  readonly status: number
  readonly build: number
  readonly deploy: number
  /** The revision of the build log. Null before the first revision. */
  readonly revisionId: string | null
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\da-f-]{36})?$/

/** A cursor's text, which is the `id` of its event. */
const formatCursor = ({ status, build, deploy, revisionId }: Cursor): string =>
  `${status}.${build}.${deploy}.${revisionId ?? ''}`

/** Throws 400 for an invalid cursor. */
export function parseCursor(text: string): Cursor {
  const [, status, build, deploy, revisionId] = FORM.exec(text) ?? []
  if (status === undefined)
    throw refusal(
      400,
      "Last-Event-ID: expected the 'id' of an event of this stream. Omit it to start from the beginning.",
    )
  return {
    status: Number(status),
    build: Number(build),
    deploy: Number(deploy),
    revisionId: revisionId ?? null,
  }
}

/** The logs that a stream can merge. */
export type EventType = 'status' | 'build' | 'deploy'

/** One event of a log, ready to send. */
interface DeploymentEvent {
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
async function readStatusPage(
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
async function readLinePage(
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
