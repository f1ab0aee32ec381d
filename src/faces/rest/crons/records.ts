import { type Access, type Principal, reaches } from '../../../core/principal.ts'
import { putJobOp, removeJobOp } from '../../../storage/jobs/job.ts'
import { recordsOf } from '../../../storage/store/pages.ts'
import type { Doc, DocIndex, Json, Op, Store } from '../../../storage/store/store.ts'
import { CRON_JOB } from './jobs.ts'
import type { Schedule } from './schedule.ts'
import type { CronField } from './wire.ts'

/** A cron: a run that is started repeatedly. */
export interface CronRecord extends Schedule {
  readonly cronId: string
  /** The assistant, by its platform id. */
  readonly assistantId: string
  /** The thread of its runs. Null if each run has its own thread. */
  readonly threadId: string | null
  readonly owner: string | null
  /** Its runs can only access threads of the owner that match this filter. Absent: all of them. */
  readonly metadataFilter?: Access['metadataFilter']
  /** The principal who created it. Its runs act for this principal. */
  readonly principal: Principal | null
  readonly enabled: boolean
  /** Whether a run's own thread is deleted after the run. */
  readonly onRunCompleted: 'delete' | 'keep'
  /** The request that each run is created from. */
  readonly payload: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
  /** In milliseconds since 1970, like all times here. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Null if it will never be due again, or is disabled. */
  readonly nextRun: number | null
  readonly lastRun: LastRun | null
}

/** The last date on which the cron was due. */
export interface LastRun {
  readonly due: number
  readonly at: number
  /** The number of later dates that had already passed. They get no run. */
  readonly missed: number
  /** Null if no run was started. */
  readonly runId: string | null
  readonly threadId: string | null
  /** Why no run was started. */
  readonly error: string | null
}

export interface StoredCron {
  readonly partition: string
  readonly version: number
  readonly record: CronRecord
}

const COLLECTION = 'crons'

/**
 * The partition of a cron: its thread's, so that both are deleted together, or one with a character that no
 * thread id contains.
 */
export const partitionOf = ({ cronId, threadId }: Pick<CronRecord, 'cronId' | 'threadId'>): string =>
  threadId ?? `cron\u001f${cronId}`

/** The store's clock, in milliseconds since 1970. */
export const clockOf = async (store: Store): Promise<number> => (await store.inspect(COLLECTION)).now

/** Writes a cron, with the job that is due when the cron is. */
export const putCron = (record: CronRecord): readonly Op[] => [
  putRecord(record),
  record.nextRun === null
    ? removeJobOp(record.cronId)
    : putJobOp({ id: record.cronId, kind: CRON_JOB, data: null }, record.nextRun),
]

const putRecord = (record: CronRecord): Op => ({
  op: 'put',
  collection: COLLECTION,
  id: record.cronId,
  value: record as unknown as Json,
  index: indexOf(record),
})

/** Creates a cron. */
export async function insertCron(store: Store, record: CronRecord): Promise<void> {
  await store.commit(partitionOf(record), { ops: putCron(record) })
}

/** Writes a cron that was read before. Throws `ConflictError` if it has changed since. */
export async function replaceCron(
  store: Store,
  { partition, version }: StoredCron,
  record: CronRecord,
  ops: readonly Op[] = [],
): Promise<void> {
  const guard = { guard: 'version', collection: COLLECTION, id: record.cronId, version } as const
  await store.commit(partition, { guards: [guard], ops: [...putCron(record), ...ops] })
}

export async function removeCron(store: Store, { partition, record }: StoredCron): Promise<void> {
  const { cronId } = record
  await store.commit(partition, {
    ops: [{ op: 'delete', collection: COLLECTION, id: cronId }, removeJobOp(cronId)],
  })
}

/** A cron whose partition is known. */
export async function loadCron(
  store: Store,
  partition: string,
  cronId: string,
): Promise<StoredCron | undefined> {
  const doc = await store.get(partition, COLLECTION, cronId)
  return doc && storedCron(doc)
}

/** A cron that the caller can access. */
export async function findCron(
  store: Store,
  access: Access,
  cronId: string,
): Promise<StoredCron | undefined> {
  const { docs } = await store.list(COLLECTION, { orderBy: idField(cronId), limit: 1 })
  const found = docs[0] && storedCron(docs[0])
  return found && reaches(access, found.record) ? found : undefined
}

export interface CronFilter {
  readonly owner: string | null
  readonly assistantId?: string | undefined
  readonly threadId?: string | undefined
  readonly enabled?: boolean | undefined
}

export type CronOrder = 'cronId' | 'assistantId' | 'threadId' | 'createdAt' | 'updatedAt' | 'nextRun'

export interface CronList extends CronFilter {
  readonly orderBy: CronOrder
  readonly ascending: boolean
  readonly offset: number
  readonly limit: number
}

/** The crons that match a filter, starting at `offset`. */
export function listCrons(
  store: Store,
  { orderBy, ascending, offset, limit, ...filter }: CronList,
): AsyncGenerator<CronRecord> {
  const query = { orderBy: listField(filter, orderBy), descending: !ascending, offset }
  return recordsOf((doc) => storedCron(doc).record, store, COLLECTION, query, limit)
}

export async function countCrons(store: Store, filter: CronFilter): Promise<number> {
  return store.count(COLLECTION, listField(filter, 'createdAt'))
}

// Records are plain JSON by construction.
const storedCron = ({ partition, version, value }: Doc): StoredCron => ({
  partition,
  version,
  record: value as unknown as CronRecord,
})

const idField = (cronId: string): string => `is ${cronId}`

/** The index field that orders a filter's crons. */
const listField = ({ owner, assistantId, threadId, enabled }: CronFilter, order: CronOrder): string =>
  `by ${order} of ${JSON.stringify([owner, assistantId, threadId, enabled])}`

/**
 * Each filter has a field for each order, so that the cost of a page does not depend on the number of crons.
 */
function indexOf(record: CronRecord): DocIndex {
  const { owner, assistantId, threadId, enabled, cronId } = record
  const keys: Readonly<Record<CronOrder, string | number>> = {
    cronId,
    assistantId,
    threadId: threadId ?? '',
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    // Crons that are never due come last.
    nextRun: record.nextRun ?? Number.MAX_SAFE_INTEGER,
  }
  const filters: CronFilter[] = [undefined, enabled].flatMap((enabled) =>
    [undefined, assistantId].flatMap((assistantId) =>
      [...new Set([undefined, threadId ?? undefined])].map((threadId) => ({
        owner,
        assistantId,
        threadId,
        enabled,
      })),
    ),
  )
  const fields = filters.flatMap((filter) =>
    Object.entries(keys).map(([order, key]) => [listField(filter, order as CronOrder), key]),
  )
  return { [idField(cronId)]: 0, ...Object.fromEntries(fields) }
}

/**
 * A cron in the format of the platform's clients. `last_run` is an addition of this server: what happened at
 * the last due time.
 */
export function presentCron(cron: CronRecord): Readonly<Record<Exclude<CronField, 'now'>, unknown>> {
  return {
    cron_id: cron.cronId,
    assistant_id: cron.assistantId,
    thread_id: cron.threadId,
    user_id: cron.principal?.id ?? null,
    payload: cron.payload,
    schedule: cron.schedule,
    timezone: cron.timezone,
    next_run_date: dateOf(cron.nextRun),
    end_time: dateOf(cron.endTime),
    on_run_completed: cron.onRunCompleted,
    enabled: cron.enabled,
    metadata: cron.metadata,
    created_at: dateOf(cron.createdAt),
    updated_at: dateOf(cron.updatedAt),
    last_run: cron.lastRun && presentLastRun(cron.lastRun),
  }
}

const presentLastRun = ({ due, at, missed, runId, threadId, error }: LastRun) => ({
  due_at: dateOf(due),
  started_at: dateOf(at),
  missed,
  run_id: runId,
  thread_id: threadId,
  error,
})

export const dateOf = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()
