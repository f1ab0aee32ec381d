import { empty, HttpError, json } from '../../../core/http/index.ts'
import { accessOf, withoutMetadataFilter } from '../../../core/principal.ts'
import { internalsOf, jobsOf } from '../../../engine/index.ts'
import { permit, type ThreadResource } from '../../kit/access.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { bodyOf } from '../../kit/body.ts'
import { requireThread } from '../../kit/require-thread.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { record } from '../../kit/schema.ts'
import type { PlatformContext } from '../context.ts'
import { type CronRequest, changeCron, createCron } from './changes.ts'
import { findCron, presentCron, removeCron } from './records.ts'
import { assistantOf, runOf } from './start.ts'
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
