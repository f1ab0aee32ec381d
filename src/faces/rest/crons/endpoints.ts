import { empty, HttpError, json } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { type Access, accessOf, type Principal, withoutMetadataFilter } from '../../../core/principal.ts'
import { internalsOf, jobsOf, RunError } from '../../../engine/index.ts'
import { retryConflicts } from '../../../engine/records/thread.ts'
import type { Store } from '../../../storage/store/store.ts'
import { permit, type ThreadResource } from '../../kit/access.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { bodyOf } from '../../kit/body.ts'
import { requireThread } from '../../kit/require-thread.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { record } from '../../kit/schema.ts'
import type { PlatformContext } from '../context.ts'
import { assistantOf, runOf } from './fire.ts'
import {
  type CronRecord,
  clockOf,
  findCron,
  insertCron,
  presentCron,
  removeCron,
  replaceCron,
  type StoredCron,
} from './records.ts'
import { assertEverDue, dueDates } from './schedule.ts'
import { CRON_KEYS, cronSchema } from './wire.ts'

/**
 * `POST /runs/crons`, and the same route of a thread. Creating a cron also needs the permission to create
 * runs.
 */
export async function postCron(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { engine, authorize } = context
  const { threadId } = call
  const { assistant_id } = await requestOf(call)
  if (assistant_id === undefined)
    throw new HttpError(400, 'invalid_argument', 'assistant_id: expected a string.')
  const asked = await assistantOf(context, withoutMetadataFilter(call.principal), assistant_id)
  const resource = { assistantId: asked.graphId, ...(threadId !== '' && { threadId }) }
  const cronCall = await permit(authorize, call, 'crons:create', resource, call.json)
  const runs = await permit(authorize, call, 'runs:create', resource, cronCall.json)
  // A cron starts runs later, when nobody is there to ask for: all that will run is asked about now.
  if (asked.assistantId !== asked.graphId)
    await permit(authorize, call, 'runs:create', { ...resource, assistantId: asked.assistantId }, runs.json)
  const { assistant_id: _, ...request } = await requestOf(runs)
  const { principal } = runs
  const { assistantId } = await assistantOf(context, principal, assistant_id)
  if (threadId !== '') await requireThread(context, { ...call, principal })
  const cron = await createCron(internalsOf(engine).store, {
    principal,
    assistantId,
    threadId: threadId === '' ? null : threadId,
    request: { ...request, payload: await checked(context, assistantId, request.payload) },
  })
  jobsOf(engine).wake()
  return json(presentCron(cron))
}

/** The `authorize` resource of a cron: what it runs, and the thread if it has one. */
export async function namedCron(
  { engine }: PlatformContext,
  { params, principal }: Pick<FaceCall, 'params' | 'principal'>,
): Promise<ThreadResource> {
  const { store } = internalsOf(engine)
  const found = await findCron(store, accessOf(withoutMetadataFilter(principal)), params.cron_id ?? '')
  if (!found) return {}
  const { assistantId, threadId } = found.record
  const { graphId } = await namedAssistant(engine, withoutMetadataFilter(principal), assistantId)
  return { assistantId: graphId ?? assistantId, ...(threadId !== null && { threadId }) }
}

/** `PATCH /runs/crons/{cron_id}`: replaces the given fields and merges metadata. */
export async function patchCron(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { engine } = context
  const { assistant_id: _, payload, metadata, ...request } = await requestOf(call)
  const cron = await changeCron(
    internalsOf(engine).store,
    accessOf(call.principal),
    idOf(call),
    async (known) => ({
      ...request,
      payload: await checked(context, known.assistantId, { ...known.payload, ...payload }),
      metadata: { ...known.metadata, ...metadata },
    }),
  )
  if (!cron) throw notFound(call)
  jobsOf(engine).wake()
  return json(presentCron(cron))
}

/** `DELETE /runs/crons/{cron_id}`. Runs that it has started continue. */
export async function deleteCron({ engine }: PlatformContext, call: FaceCall): Promise<Response> {
  const { store } = internalsOf(engine)
  const cron = await findCron(store, accessOf(call.principal), idOf(call))
  if (!cron) throw notFound(call)
  await removeCron(store, cron)
  return empty()
}

/** The validated request, as it is stored. */
async function checked(
  context: PlatformContext,
  assistantId: string,
  payload: CronRequest['payload'] = {},
): Promise<Readonly<Record<string, unknown>>> {
  await runOf(context, { assistantId, payload })
  return payload
}

const idOf = ({ params }: FaceCall): string => params.cron_id ?? ''

const notFound = (call: FaceCall): HttpError =>
  new HttpError(404, 'not_found', `Cron ${JSON.stringify(idOf(call))} not found.`)

/** The cron's own fields of a body. The rest is the request of each run. */
async function requestOf(
  call: Pick<FaceCall, 'json'>,
): Promise<CronRequest & { readonly assistant_id?: string | undefined }> {
  const { end_time, on_run_completed, ...own } = await bodyOf(cronSchema, call)
  const body = await bodyOf(record, call)
  const payload = Object.fromEntries(Object.entries(body).filter(([key]) => !CRON_KEYS.has(key)))
  return {
    ...own,
    payload,
    ...(end_time !== undefined && { endTime: end_time }),
    ...(on_run_completed !== undefined && { onRunCompleted: on_run_completed }),
  }
}

/** The fields of a cron that a request sets. */
interface CronRequest extends Partial<Pick<CronRecord, (typeof CHANGEABLE)[number]>> {}

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
async function createCron(
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
async function changeCron(
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
