import { empty, HttpError, json } from '../../../core/http/index.ts'
import {
  type AgentEngine,
  findRun,
  RunError,
  type RunRecord,
  type ThreadRecord,
} from '../../../engine/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { ThreadResource } from '../../kit/access.ts'
import { bodyOf, readBy } from '../../kit/body.ts'
import { threadIdOf } from '../../kit/ids.ts'
import { containing, numberParam, pageHeaders, withFields } from '../../kit/lists.ts'
import { requireThread, threadNotFound } from '../../kit/require-thread.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { outcomeOf } from '../frames/outcome.ts'
import { cancelWhenGone, isCancelledByLeaving, reconnectHeaders, whenEnded } from './create.ts'
import { type CancelMany, cancelManySchema, detailsOf, presentRun, statusOf, statusSchema } from './wire.ts'

const MAX_PAGE = 1_000

/** `GET …/runs`: the runs of a thread, newest first. */
export async function getRuns({ engine }: PlatformContext, call: FaceCall): Promise<Response> {
  const limit = numberParam(call, 'limit', 10, MAX_PAGE)
  const offset = numberParam(call, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const { searchParams } = call.url
  const named = searchParams.get('status')
  const status = named === null || named === '' ? undefined : readBy(statusSchema, named, refused('status'))
  const hasMetadata = containing(metadataOf(searchParams.get('metadata')))
  const accept = (run: RunRecord): boolean =>
    (status === undefined || statusOf(run) === status) && hasMetadata(detailsOf(run).metadata)
  // One more than the limit shows whether there is a next page.
  const query = { ...addressOf(call), accept, offset, limit: limit + 1 }
  const found = await engine.listRuns(query).catch((error: unknown) => {
    throw error instanceof RunError && error.code === 'no_such_thread' ? threadNotFound(call.threadId) : error
  })
  const runs = found.slice(0, limit)
  const selected = searchParams.getAll('select')
  const fields = selected.length === 0 ? undefined : selected
  const shown = runs.map((run) => withFields(presentRun(run), fields))
  return json(shown, { headers: pageHeaders(offset + found.length, offset + limit) })
}

/** `GET …/runs/{run_id}`. */
export async function getRun(context: PlatformContext, call: FaceCall): Promise<Response> {
  return json(presentRun(await requireRun(context, call)))
}

/** `DELETE …/runs/{run_id}`. */
export async function deleteRun({ engine }: PlatformContext, call: FaceCall): Promise<Response> {
  if (!(await engine.deleteRun({ ...addressOf(call), runId: call.params.run_id! }))) throw noSuchRun()
  return empty(204)
}

/** `GET …/runs/{run_id}/join?cancel_on_disconnect`: the outcome of a run. */
export async function joinRun(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const found = await findRun(context.engine, { threadId, principal, runId: call.params.run_id! })
  if (!found) await requireThread(context, call)
  if (!found?.run) throw noSuchRun()
  const { runId, firstSeq } = found.run
  const at = { threadId, runId, principal }
  const outcome = outcomeOf(context.engine, at, firstSeq === null ? undefined : firstSeq - 1)
  if (isCancelledByLeaving(call)) cancelWhenGone(context, call, at, outcome)
  const headers = reconnectHeaders('join', at, call.url.search)
  return whenEnded(context, call, outcome, headers)
}

/** `POST /runs/cancel?action`: cancels runs by id, or those of a status on one thread or on all. */
export async function cancelRuns({ engine }: PlatformContext, call: FaceCall<CancelMany>): Promise<Response> {
  const action = call.url.searchParams.get('action') === 'rollback' ? 'rollback' : 'interrupt'
  const { principal } = call
  for await (const [threadId, runId] of requestedRuns(engine, call, call.body)) {
    try {
      await engine.cancel({ threadId, runId, principal, action })
    } catch (error) {
      // A run that no longer exists needs no cancel.
      if (!(error instanceof RunError && error.code.startsWith('no_such'))) throw error
    }
  }
  return empty(204)
}

async function* requestedRuns(
  engine: AgentEngine,
  { principal }: FaceCall,
  { thread_id, run_ids, status }: CancelMany,
): AsyncGenerator<readonly [threadId: string, runId: string]> {
  const threadId = thread_id === undefined ? undefined : threadIdOf(thread_id)
  if (run_ids) {
    if (threadId === undefined) throw refused('run_ids')('set thread_id to the thread of the runs.')
    for (const runId of run_ids) {
      if (!(await engine.getRun({ threadId, runId, principal }))) throw noSuchRun()
    }
    for (const runId of run_ids) yield [threadId, runId]
    return
  }
  if (!status) throw refused('status')('expected thread_id and run_ids, or a status.')
  const named = threadId === undefined ? undefined : await engine.findThread({ threadId, principal })
  if (threadId !== undefined && !named) throw threadNotFound(threadId)
  const threads: ThreadRecord[] = []
  if (named) threads.push(named)
  else for await (const thread of engine.listThreads({ principal, status: 'busy' })) threads.push(thread)
  for (const thread of threads) yield* openRuns(thread, status)
}

function* openRuns({ threadId, activeRunId, queue }: ThreadRecord, status: CancelMany['status']) {
  // Queued runs first: they would start when the run before them has ended.
  if (status !== 'running') for (const { runId } of queue) yield [threadId, runId] as const
  if (status !== 'pending' && activeRunId !== null) yield [threadId, activeRunId] as const
}

const addressOf = ({ threadId, principal }: FaceCall) => ({ threadId, principal })

/** The run that a request names. Throws 404. */
async function requireRun({ engine }: PlatformContext, call: FaceCall): Promise<RunRecord> {
  const run = await engine.getRun({ ...addressOf(call), runId: call.params.run_id! })
  if (run) return run
  throw noSuchRun()
}

const noSuchRun = (): HttpError => new HttpError(404, 'not_found', 'Run not found')

const refused = (name: string) => (message: string) =>
  new HttpError(400, 'invalid_argument', `${name}: ${message}`)

/** Metadata in a query string is JSON. */
function metadataOf(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null || text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {}
  throw refused('metadata')('expected an object as JSON.')
}

/** The thread whose runs a request cancels, if it names one. */
export const namedInBody = async (
  _: PlatformContext,
  call: Pick<FaceCall, 'json'>,
): Promise<ThreadResource> => {
  const { thread_id } = await bodyOf(cancelManySchema, call)
  return thread_id === undefined ? {} : { threadId: threadIdOf(thread_id) }
}
