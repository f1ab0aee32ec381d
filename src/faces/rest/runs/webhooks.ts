import {
  assertDelivered,
  createDelivery,
  DELIVERY_OPTIONS,
  type Deliver,
  type DeliveryOptions,
} from '../../../core/egress/delivery.ts'
import type { OptionTable } from '../../../core/options.ts'
import { jobsOf, type ServedEngine } from '../../../engine/index.ts'
import type { Job } from '../../../storage/jobs/job.ts'
import { type JobOrigin, RETRY_FOR_A_DAY } from '../../../storage/jobs/kind.ts'
import { DELIVER, FOLLOW, isOwnPath, LOCAL } from './webhook-job.ts'

/** How the webhooks of runs are delivered. */
export interface WebhookOptions extends DeliveryOptions {
  /**
   * Handles webhooks that are a path, such as `/done`, in this process: the handler of the whole host.
   * Default: they are called over the network, at the URL that callers use.
   */
  readonly local?: ((request: Request) => Response | Promise<Response>) | undefined
}

export const WEBHOOK_OPTIONS: OptionTable<WebhookOptions> = { ...DELIVERY_OPTIONS, local: 'function' }

export interface Webhooks {
  /** The URL of a webhook, or a path in this process. Throws 400 if it cannot be called. */
  check(webhook: string, base: string | undefined): Promise<string>
}

/** Registers the webhook jobs with the engine. */
export function createWebhooks(engine: ServedEngine, options: WebhookOptions): Webhooks {
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
    check: async (webhook, base) => (await loadHandlers()).checkWebhook(options, webhook, base),
  }
}

const loadHandlers = () => import('./follow-webhook.ts')

async function deliverLocally(
  local: NonNullable<WebhookOptions['local']>,
  { url, headers, body, signal }: Parameters<Deliver>[0],
): ReturnType<Deliver> {
  const response = await local(new Request(new URL(url, LOCAL), { method: 'POST', headers, body, signal }))
  await response.body?.cancel()
  return assertDelivered({ status: response.status, retryAfter: response.headers.get('retry-after') })
}

/** The run of a job. After the run has ended, the job has its own partition. */
function originOf({ id, partition, data }: Job): JobOrigin {
  const { body } = data as { readonly body?: { readonly thread_id: string } }
  return { threadId: body?.thread_id ?? partition, runId: id }
}
