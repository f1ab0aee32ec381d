import { concatBytes } from '../../core/bytes.ts'
import { encodeSse, type StreamSource } from '../../core/http/index.ts'
import { watchChanges } from '../../storage/coordination/changes.ts'
import type { ControlPlaneContext } from '../context.ts'
import { refusal } from '../errors.ts'
import { type LogPlace, partitionOf as logPartitionOf } from '../logs/logs.ts'
import type { DeploymentRecord } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import { type EventPage, type EventType, mergePages, readLinePage, readStatusPage } from './pages.ts'

export interface EventStreamOptions {
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
  { deploymentId, owner, types, revisionId, after }: EventStreamOptions,
): StreamSource {
  let cursor: Cursor = { status: 0, build: 0, deploy: 0, revisionId: null, ...after }
  if (revisionId !== undefined && cursor.revisionId !== revisionId)
    cursor = { ...cursor, revisionId, build: 0 }
  let isOver = false
  const changes = watchChanges(store, partitionOf(deploymentId), () => true)

  const buildOf = (id: string): LogPlace => ({ type: 'build', deploymentId, revisionId: id })

  /** The build log of an older revision is read to its end before that of the newest one starts. */
  async function readBuild({ latestRevisionId }: DeploymentRecord): Promise<EventPage | undefined> {
    const newest = revisionId ?? latestRevisionId
    if (newest === null) return undefined
    for (;;) {
      const current: string = cursor.revisionId ?? newest
      cursor = { ...cursor, revisionId: current }
      const place = buildOf(current)
      changes.watch(logPartitionOf(place))
      const page = await readLinePage(logs, place, cursor.build, undefined)
      if (current === newest || page.events.length > 0 || !page.isEnd) return page
      changes.unwatch(logPartitionOf(place))
      cursor = { ...cursor, revisionId: newest, build: 0 }
    }
  }

  async function readPages(deployment: DeploymentRecord): Promise<readonly EventPage[]> {
    const pages = await Promise.all([
      types.has('status') ? readStatusPage(store, deploymentId, cursor.status, revisionId) : undefined,
      types.has('build') ? readBuild(deployment) : undefined,
      types.has('deploy')
        ? readLinePage(logs, { type: 'deploy', deploymentId }, cursor.deploy, revisionId)
        : undefined,
    ])
    return pages.filter((page) => page !== undefined)
  }

  /** The frames of new events, at most a page of each log. */
  function framesOf(pages: readonly EventPage[]): readonly Uint8Array[] {
    const events = mergePages(pages)
    const frames = events.map(({ type, position, data }) => {
      cursor = { ...cursor, [type]: position }
      return encodeSse({ id: formatCursor(cursor), event: type, data: JSON.stringify(data) })
    })
    // Events that a filter has left out are not read again.
    for (const { type, events: all, position } of pages)
      if (events.filter((event) => event.type === type).length === all.length)
        cursor = { ...cursor, [type]: position }
    return frames
  }

  if (types.has('deploy')) changes.watch(logPartitionOf({ type: 'deploy', deploymentId }))

  return {
    async next() {
      while (!isOver) {
        const deployment = await deployments.find(owner, deploymentId)
        if (!deployment) {
          isOver = true
          const data = JSON.stringify({ type: 'deployment', id: deploymentId })
          return encodeSse({ id: formatCursor(cursor), event: 'deleted', data })
        }
        const pages = await readPages(deployment)
        const frames = framesOf(pages)
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

/** A reader's position: its last sequence number in each log. */
export interface Cursor {
  readonly status: number
  readonly build: number
  readonly deploy: number
  /** The revision of the build log. Null before the first revision. */
  readonly revisionId: string | null
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\da-f-]{36})?$/

/** A cursor's text, which is the `id` of its event. */
export const formatCursor = ({ status, build, deploy, revisionId }: Cursor): string =>
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
