import { HttpError, json } from '../../core/http/index.ts'
import {
  inspectThread,
  internalsOf,
  listQueued,
  type ThreadInspection,
  type ThreadRecord,
} from '../../engine/index.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import type { DevtoolsContext } from './context.ts'
import { presentLease, presentPrices, titleOf } from './present.ts'

/** The maximum number of threads with an active run to show, newest first. */
const MAX_HELD = 100
/** The maximum number of queued runs to show, longest wait first. */
const MAX_QUEUED = 200

/** `GET …/api/server`. */
export const getServer = async (context: DevtoolsContext, call: FaceCall): Promise<Response> =>
  json(await readServer(context, call))

/** The server, and counts of the caller's data. */
export async function readServer({ engine, isOperator, prices }: DevtoolsContext, { principal }: FaceCall) {
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
  return {
    /** The server's clock. */
    now: Date.now(),
    principal: principal?.id ?? null,
    agents: [...engine.agents.keys()],
    store: { name, shared, durable },
    threads: { all, idle, busy, interrupted, error },
    /** Load of this process, for the runs of all owners. Null if the caller is not an operator. */
    load: (await isOperator(principal)) ? await engine.measure() : null,
    prices: presentPrices(prices),
  }
}

/** `GET …/api/work`. */
export const getWork = async ({ engine }: DevtoolsContext, { principal }: FaceCall): Promise<Response> =>
  json({
    now: Date.now(),
    queued: await readQueued(engine, principal),
    held: await readHeld(engine, principal),
  })

type Principal = FaceCall['principal']

/** The holders of the caller's active runs. */
export async function readHeld(engine: DevtoolsContext['engine'], principal: Principal) {
  const held: Promise<ReturnType<typeof presentHeld>>[] = []
  for await (const thread of engine.listThreads({ principal, status: 'busy', limit: MAX_HELD }))
    held.push(
      inspectThread(internalsOf(engine).store, thread).then(({ lease }) =>
        presentHeld(engine, thread, lease),
      ),
    )
  return Promise.all(held)
}

const presentHeld = (
  engine: DevtoolsContext['engine'],
  thread: ThreadRecord,
  lease: ThreadInspection['lease'],
) => ({
  thread_id: thread.threadId,
  title: titleOf(thread),
  run_id: thread.activeRunId,
  lease: presentLease(engine, thread, lease),
})

/** The caller's queued runs. */
export async function readQueued(engine: DevtoolsContext['engine'], principal: Principal) {
  const rows = []
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

/** `GET …/api/store`. */
export const getStore = async (context: DevtoolsContext, call: FaceCall): Promise<Response> =>
  json(await readStore(context, call))

/** Counts of the whole store, for all owners. Counting a large store takes long. */
export async function readStore({ engine, isOperator }: DevtoolsContext, { principal }: FaceCall) {
  if (!(await isOperator(principal)))
    throw new HttpError(403, 'permission_denied', 'Only operators can see the contents of the whole store.')
  const report = await internalsOf(engine).store.report?.()
  if (!report) throw new HttpError(404, 'not_found', 'This store does not report its contents.')
  const { name, schema, durable, warnings, counts, bytes = null } = report
  return { name, schema, durable, warnings, counts: { ...counts } as Partial<Record<string, number>>, bytes }
}
