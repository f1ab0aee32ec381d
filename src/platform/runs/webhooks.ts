import { checkUrl } from '../../egress/check-url.ts'
import {
  assertDelivered,
  createDelivery,
  DELIVERY_OPTIONS,
  type Deliver,
  type DeliveryOptions,
} from '../../egress/delivery.ts'
import { HttpError } from '../../http/index.ts'
import { type Job, putJobOp } from '../../jobs/job.ts'
import type { JobHandler, JobOrigin } from '../../jobs/kind.ts'
import { RETRY_FOR_A_DAY } from '../../jobs/retry-rule.ts'
import type { OptionTable } from '../../options.ts'
import { actingFor } from '../../principal.ts'
import { type AgentEngine, internalsOf, jobsOf, RunError } from '../../runs/index.ts'
import type { Json, Op } from '../../storage/store/store.ts'
import { outcomeOf } from './outcome.ts'
import { presentRun } from './present.ts'

/** How the webhooks of runs are delivered. */
export interface WebhookOptions extends DeliveryOptions {
  /**
   * Answers webhooks that are a path, such as `/done`, in this process: the handler of the whole host.
   * Default: they are called over the network, where callers reach the server.
   */
  readonly local?: ((request: Request) => Response | Promise<Response>) | undefined
}

export const WEBHOOK_OPTIONS: OptionTable<WebhookOptions> = { ...DELIVERY_OPTIONS, local: 'function' }

export interface Webhooks {
  /** The URL of a webhook, or a path of this process. Throws 400 for one that cannot be called. */
  check(webhook: string, base: string | undefined): string
}

const MAX_LENGTH = 4_096

/** Waits for the end of a run, in the partition of its thread. */
const FOLLOW = 'run-webhook'
/** Delivers the outcome of a run, in a partition of its own, because the thread may be gone by then. */
const DELIVER = 'run-webhook-delivery'

/** Registers the jobs of webhooks with the engine. */
export function createWebhooks(engine: AgentEngine, options: WebhookOptions): Webhooks {
  const { local } = options
  const overNetwork = createDelivery(options)
  const deliver: Deliver = (request) =>
    local && isOwnPath(request.url) ? deliverLocally(local, request) : overNetwork(request)
  jobsOf(engine).register({
    [FOLLOW]: { handle: follow(engine), retry: RETRY_FOR_A_DAY, originOf },
    [DELIVER]: { handle: deliverBody, retry: RETRY_FOR_A_DAY, deliver, originOf },
  })
  return {
    check(webhook, base) {
      const isPath = webhook.startsWith('/') && base !== undefined
      const isLocal = local !== undefined && isOwnPath(webhook)
      const url = isPath && !isLocal && URL.canParse(webhook, base) ? new URL(webhook, base).href : webhook
      try {
        if (url.length > MAX_LENGTH) throw new Error(`Give at most ${MAX_LENGTH} characters.`)
        if (!isLocal) checkUrl(url, options)
        return url
      } catch (error) {
        throw new HttpError(400, 'invalid_argument', `webhook: ${(error as Error).message}`)
      }
    },
  }
}

/** Any origin: the handler looks at the path only. */
const LOCAL = 'http://localhost'

const isOwnPath = (url: string): boolean =>
  url.startsWith('/') && URL.canParse(url, LOCAL) && new URL(url, LOCAL).origin === LOCAL

async function deliverLocally(
  local: NonNullable<WebhookOptions['local']>,
  { url, headers, body, signal }: Parameters<Deliver>[0],
): ReturnType<Deliver> {
  const response = await local(new Request(new URL(url, LOCAL), { method: 'POST', headers, body, signal }))
  await response.body?.cancel()
  return assertDelivered({ status: response.status, retryAfter: response.headers.get('retry-after') })
}

interface FollowedRun {
  readonly runId: string
  readonly url: string
  readonly owner: string | null
  /** Whether the thread is deleted once it is known what to deliver. */
  readonly deletesThread: boolean
}

/** The run that a job is about. Once it has ended, the job has a partition of its own. */
function originOf({ id, partition, data }: Job): JobOrigin {
  const { body } = data as { readonly body?: { readonly thread_id: string } }
  return { threadId: body?.thread_id ?? partition, runId: id }
}

/** The webhook of a run, for the commit that records the run. */
export const webhookJob = (run: FollowedRun): Op =>
  putJobOp({ id: run.runId, kind: FOLLOW, data: run as unknown as Json })

const follow =
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

const deliverBody: JobHandler = async ({ data }, { deliver }) => {
  const { url, body } = data as { readonly url: string; readonly body: object }
  await deliver({
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, webhook_sent_at: new Date().toISOString() }),
  })
}
