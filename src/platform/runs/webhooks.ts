import { checkUrl } from '../../egress/check-url.ts'
import {
  assertDelivered,
  createDelivery,
  DELIVERY_OPTIONS,
  type Deliver,
  type DeliveryOptions,
} from '../../egress/delivery.ts'
import { HttpError } from '../../http/index.ts'
import type { Job } from '../../jobs/job.ts'
import type { JobOrigin } from '../../jobs/kind.ts'
import { RETRY_FOR_A_DAY } from '../../jobs/retry-rule.ts'
import type { OptionTable } from '../../options.ts'
import { type AgentEngine, jobsOf } from '../../runs/index.ts'
import { DELIVER, FOLLOW } from './webhook-job.ts'

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

/** Registers the jobs of webhooks with the engine. */
export function createWebhooks(engine: AgentEngine, options: WebhookOptions): Webhooks {
  const { local } = options
  const overNetwork = createDelivery(options)
  const deliver: Deliver = (request) =>
    local && isOwnPath(request.url) ? deliverLocally(local, request) : overNetwork(request)
  jobsOf(engine).register({
    [FOLLOW]: {
      handle: async (...job) => (await loadHandlers()).followRun(engine)(...job),
      retry: RETRY_FOR_A_DAY,
      originOf,
    },
    [DELIVER]: {
      handle: async (...job) => (await loadHandlers()).deliverBody(...job),
      retry: RETRY_FOR_A_DAY,
      deliver,
      originOf,
    },
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

const loadHandlers = () => import('./follow-webhook.ts')

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

/** The run that a job is about. Once it has ended, the job has a partition of its own. */
function originOf({ id, partition, data }: Job): JobOrigin {
  const { body } = data as { readonly body?: { readonly thread_id: string } }
  return { threadId: body?.thread_id ?? partition, runId: id }
}
