import { putJobOp } from '../../jobs/job.ts'
import type { JobHandler } from '../../jobs/kind.ts'
import { actingFor } from '../../principal.ts'
import { type AgentEngine, internalsOf, jobsOf, RunError } from '../../runs/index.ts'
import type { Json } from '../../storage/store/store.ts'
import { outcomeOf } from './outcome.ts'
import { presentRun } from './present.ts'
import { DELIVER, type FollowedRun } from './webhook-job.ts'

/** Waits for the end of a run, and makes the job that delivers it. */
export const followRun =
  (engine: AgentEngine): JobHandler =>
  async ({ partition: threadId, data }, { signal }) => {
    const { runId, url, owner, deletesThread } = data as unknown as FollowedRun
    const principal = actingFor(owner)
    const body = await endOf(engine, { threadId, principal, runId, signal })
    if (body) {
      const job = putJobOp({ id: runId, kind: DELIVER, data: { url, body } as Json })
      await internalsOf(engine).store.commit(`\u001fwebhook ${runId}`, { ops: [job] })
      jobsOf(engine).wake()
    }
    if (deletesThread) await engine.deleteThread({ threadId, principal })
  }

/** The body for the webhook of an ended run. Undefined if the run was rolled back or deleted. */
async function endOf(
  engine: AgentEngine,
  at: Parameters<AgentEngine['wait']>[0],
): Promise<Readonly<Record<string, Json>> | undefined> {
  try {
    await engine.wait(at)
    const run = await engine.getRun(at)
    if (!run) return undefined
    const { isError, body } = await outcomeOf(engine, at)
    const times = {
      run_started_at: run.startedAt === null ? null : new Date(run.startedAt).toISOString(),
      run_ended_at: new Date(run.end?.at ?? run.createdAt).toISOString(),
    }
    const result = isError
      ? { values: null, error: { error: run.errorName ?? 'Error', message: run.error } }
      : { values: JSON.parse(body) }
    return { ...presentRun(run), ...times, ...result } as Readonly<Record<string, Json>>
  } catch (error) {
    if (error instanceof RunError && error.code.startsWith('no_such')) return undefined
    throw error
  }
}

/** Delivers what `followRun` found. */
export const deliverBody: JobHandler = async ({ data }, { deliver }) => {
  const { url, body } = data as { readonly url: string; readonly body: object }
  await deliver({
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, webhook_sent_at: new Date().toISOString() }),
  })
}
