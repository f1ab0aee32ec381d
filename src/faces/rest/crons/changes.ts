import { uuid7 } from '../../../core/ids.ts'
import { type Access, accessOf, type Principal } from '../../../core/principal.ts'
import { RunError } from '../../../engine/index.ts'
import { retryConflicts } from '../../../engine/records/update.ts'
import type { Store } from '../../../storage/store/store.ts'
import { type CronRecord, clockOf, findCron, insertCron, replaceCron, type StoredCron } from './records.ts'
import { assertEverDue, dueDates } from './schedule.ts'

/** The fields of a cron that a request sets. */
export interface CronRequest extends Partial<Pick<CronRecord, (typeof CHANGEABLE)[number]>> {}

const CHANGEABLE = [
  'schedule',
  'timezone',
  'endTime',
  'enabled',
  'onRunCompleted',
  'payload',
  'metadata',
] as const

/**
 * Creates a cron, which is due from now on. Throws `RunError` `invalid_argument` if it would never be due.
 */
export async function createCron(
  store: Store,
  made: Pick<CronRecord, 'assistantId' | 'threadId'> & {
    readonly principal: Principal | null
    readonly request: CronRequest
  },
): Promise<CronRecord> {
  const { principal, request, assistantId, threadId } = made
  const { owner, metadataFilter } = accessOf(principal)
  const { schedule } = request
  if (schedule === undefined) throw new RunError('invalid_argument', 'schedule: expected a string.')
  const now = await clockOf(store)
  const record: CronRecord = {
    cronId: uuid7(now),
    assistantId,
    threadId,
    owner,
    ...(metadataFilter && { metadataFilter }),
    principal: principal && identityOf(principal),
    schedule,
    timezone: request.timezone ?? null,
    endTime: request.endTime ?? null,
    enabled: request.enabled ?? true,
    onRunCompleted: request.onRunCompleted ?? 'delete',
    payload: request.payload ?? {},
    metadata: request.metadata ?? {},
    createdAt: now,
    updatedAt: now,
    nextRun: null,
    lastRun: null,
  }
  await assertEverDue(record, now)
  const [next] = await dueDates(record, now)
  if (next === undefined)
    throw new RunError('invalid_argument', 'end_time: the schedule never fires before it.')
  const cron = { ...record, nextRun: record.enabled ? next : null }
  await insertCron(store, cron)
  return cron
}

/** Changes a cron. Undefined if the caller can access no cron with this id. */
export async function changeCron(
  store: Store,
  access: Access,
  cronId: string,
  change: (cron: CronRecord) => Promise<CronRequest>,
): Promise<CronRecord | undefined> {
  return retryConflicts(async () => {
    const cron = await findCron(store, access, cronId)
    if (!cron) return undefined
    const now = await clockOf(store)
    const changed = { ...cron.record, ...(await change(cron.record)), updatedAt: now }
    const record = { ...changed, nextRun: await nextRun(cron, changed, now) }
    await replaceCron(store, cron, record)
    return record
  })
}

/** A due time that is not yet taken stays, unless the change affects when the cron is due. */
async function nextRun({ record }: StoredCron, changed: CronRecord, now: number): Promise<number | null> {
  const isSame = TIMING.every((field) => record[field] === changed[field])
  if (isSame) return record.nextRun
  await assertEverDue(changed, now)
  return changed.enabled ? ((await dueDates(changed, now))[0] ?? null) : null
}

const TIMING = ['schedule', 'timezone', 'endTime', 'enabled'] as const

/** The claims that identify a principal, by their names here and in LangGraph's `Auth`. */
const IDENTITY = [
  'id',
  'tenant',
  'identity',
  'display_name',
  'is_authenticated',
  'permissions',
  'role',
  'roles',
]

/** The principal without its other claims, such as a request's token, which must not be stored. */
function identityOf(principal: Principal): Principal {
  const known = IDENTITY.filter((claim) => principal[claim] !== undefined)
  const claims = Object.fromEntries(known.map((claim) => [claim, principal[claim]]))
  return JSON.parse(JSON.stringify({ ...claims, id: principal.id }))
}
