import { HttpError, json } from '../../core/http/index.ts'
import { inspectThread, internalsOf, listQueued } from '../../engine/index.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import type { DevtoolsContext } from './context.ts'
import { presentLease, presentPrices, titleOf } from './present.ts'
import type { HeldRow, QueuedRow, ServerInfo, StoreRow, Work } from './wire.ts'

/** The maximum number of threads with an active run to show, newest first. */
const MAX_HELD = 100
/** The maximum number of queued runs to show, longest wait first. */
const MAX_QUEUED = 200

/** `GET …/api/server`: the server, and counts of the caller's data. */
export async function getServer(
  { engine, isOperator, prices }: DevtoolsContext,
  call: FaceCall,
): Promise<Response> {
  const { principal } = call
  const { name, shared, durable } = internalsOf(engine).store.capabilities
  const count = (status?: 'idle' | 'busy' | 'interrupted' | 'error') =>
    engine.countThreads({ principal, status })
  const [all, idle, busy, interrupted, error] = await Promise.all([
    count(),
    count('idle'),
    count('busy'),
    count('interrupted'),
    count('error'),
  ])
  return json({
    now: Date.now(),
    principal: principal?.id ?? null,
    agents: [...engine.agents.keys()],
    store: { name, shared, durable },
    threads: { all, idle, busy, interrupted, error },
    load: (await isOperator(principal)) ? await engine.measure() : null,
    prices: presentPrices(prices),
  } satisfies ServerInfo)
}

/** `GET …/api/work`: the caller's queued runs, and the holders of active ones. */
export async function getWork({ engine }: DevtoolsContext, { principal }: FaceCall): Promise<Response> {
  const { store } = internalsOf(engine)
  const held: Promise<HeldRow>[] = []
  for await (const thread of engine.listThreads({ principal, status: 'busy', limit: MAX_HELD }))
    held.push(
      inspectThread(store, thread).then(({ lease }) => ({
        thread_id: thread.threadId,
        title: titleOf(thread),
        run_id: thread.activeRunId,
        lease: presentLease(engine, thread, lease),
      })),
    )
  return json({
    now: Date.now(),
    queued: await queuedRuns(engine, principal),
    held: await Promise.all(held),
  } satisfies Work)
}

async function queuedRuns(
  engine: DevtoolsContext['engine'],
  principal: FaceCall['principal'],
): Promise<QueuedRow[]> {
  const rows: QueuedRow[] = []
  for (const thread of await listQueued(internalsOf(engine).store, principal)) {
    if (rows.length >= MAX_QUEUED) break
    const { threadId } = thread
    const runs = await engine.listRuns({ threadId, principal, limit: MAX_QUEUED })
    const created = new Map(runs.map((run) => [run.runId, run.createdAt]))
    for (const [index, { runId }] of thread.queue.entries())
      rows.push({
        thread_id: threadId,
        title: titleOf(thread),
        run_id: runId,
        position: index + 1,
        created_at: created.get(runId) ?? null,
      })
  }
  return rows
}

/** `GET …/api/store`: counts of the whole store, for all owners. Counting a large store takes long. */
export async function getStore({ engine, isOperator }: DevtoolsContext, call: FaceCall): Promise<Response> {
  if (!(await isOperator(call.principal)))
    throw new HttpError(403, 'permission_denied', 'Only operators can see the contents of the whole store.')
  const report = await internalsOf(engine).store.report?.()
  if (!report) throw new HttpError(404, 'not_found', 'This store does not report its contents.')
  const { name, schema, durable, warnings, counts, bytes = null } = report
  return json({ name, schema, durable, warnings, counts: { ...counts }, bytes } satisfies StoreRow)
}
