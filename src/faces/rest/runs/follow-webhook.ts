import { checkUrl } from '../../../core/egress/check-url.ts'
import type { DeliveryOptions } from '../../../core/egress/delivery.ts'
import { HttpError } from '../../../core/http/index.ts'
import { actingFor } from '../../../core/principal.ts'
import { internalsOf, jobsOf, RunError, type ServedEngine } from '../../../engine/index.ts'
import { putJobOp } from '../../../storage/jobs/job.ts'
import type { JobHandler } from '../../../storage/jobs/kind.ts'
import type { Json } from '../../../storage/store/store.ts'
import { outcomeOf } from '../frames/outcome.ts'
import { DELIVER, type FollowedRun, isOwnPath } from './webhook-job.ts'
import { presentRun } from './wire.ts'

const MAX_LENGTH = 4_096

/** The URL of a webhook, or a path in this process. Throws 400 if it cannot be called. */
export function checkWebhook(
  options: DeliveryOptions & { readonly local?: unknown },
  webhook: string,
  base: string | undefined,
): string {
  const isPath = webhook.startsWith('/') && base !== undefined
  const isLocal = options.local !== undefined && isOwnPath(webhook)
  const url = isPath && !isLocal && URL.canParse(webhook, base) ? new URL(webhook, base).href : webhook
  try {
    if (url.length > MAX_LENGTH) throw new Error(`Give at most ${MAX_LENGTH} characters.`)
    if (!isLocal) checkUrl(url, options)
    return url
  } catch (error) {
    throw new HttpError(400, 'invalid_argument', `webhook: ${(error as Error).message}`)
  }
}

/** Waits for the end of a run, and creates the job that delivers it. */
export const followRun =
  (engine: ServedEngine): JobHandler =>
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

/** The webhook body of a finished run. Undefined if the run was rolled back or deleted. */
async function endOf(
  engine: ServedEngine,
  at: Parameters<ServedEngine['wait']>[0],
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

/** Delivers what `followRun` prepared. */
export const deliverBody: JobHandler = async ({ data }, { deliver }) => {
  const { url, body } = data as { readonly url: string; readonly body: object }
  await deliver({
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, webhook_sent_at: new Date().toISOString() }),
  })
}
