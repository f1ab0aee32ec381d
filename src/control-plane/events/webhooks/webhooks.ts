import { fromBase64, toBase64 } from '../../../core/bytes.ts'
import { checkUrl } from '../../../core/egress/check-url.ts'
import { createDelivery, type DeliveryOptions } from '../../../core/egress/delivery.ts'
import { DeliveryError } from '../../../core/egress/errors.ts'
import { AgentwireError } from '../../../core/errors.ts'
import { type OnError, reportError } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { startTimer } from '../../../core/time.ts'
import type { Json, Op, Store } from '../../../storage/index.ts'
import { putJobOp } from '../../../storage/jobs/job.ts'
import { createJobs, type JobsOptions } from '../../../storage/jobs/jobs.ts'
import { type JobHandler, type JobTools, RETRY_FOR_A_DAY } from '../../../storage/jobs/kind.ts'
import type { OpsOf, StatusEvent } from '../../records/stored.ts'
import { partitionOf } from '../../records/stored.ts'
import { eventType, orderOf, payloadOf, WEBHOOK_EVENT_TYPES, type WebhookEventType } from './events.ts'

/** A receiver of all status changes. */
export interface WebhookOptions {
  /** Where messages are posted. Each receiver has its own URL. */
  readonly url: string
  /**
   * `whsec_` and 24 to 64 bytes in base64, the key of the Standard Webhooks signatures. With several secrets,
   * each creates a signature, so that you can give receivers a new one first.
   */
  readonly secret: string | readonly string[]
  /** The events to send, such as `deployment.revision.deployed`. Default: all. */
  readonly events?: readonly WebhookEventType[] | undefined
  /**
   * Additional addresses, blocks and names besides the public internet and this machine. See docs/limits.md.
   */
  readonly allow?: readonly string[] | undefined
}

interface WebhooksOptions extends DeliveryOptions {
  readonly store: Store
  readonly webhooks: readonly WebhookOptions[]
  readonly onError?: OnError | undefined
  readonly times?: JobsOptions['times']
}

interface Webhooks {
  /** The ops that enqueue the messages, for the commit of the change. */
  readonly opsOf: OpsOf
  close(): Promise<void>
}

interface Receiver {
  readonly url: string
  readonly secrets: readonly Uint8Array<ArrayBuffer>[]
  readonly wants: (event: StatusEvent) => boolean
}

const COLLECTION = 'webhook_events'
const JOB = 'control_plane_webhook'
const PAGE = 50
/**
 * The longest time that an event waits for a receiver, in milliseconds: slightly longer than its job is
 * retried.
 */
const LIFETIME_MS = 3 * 86_400_000
/** How long after the call of `opsOf` a commit may take, in milliseconds. */
const COMMIT_MS = 10_000

/** The field that orders a deployment's pending messages for a receiver. */
const fieldOf = (partition: string, url: string): string => `to:${partition}:${url}`

/**
 * Posts each status change at least once, in order for each deployment. Messages are stored in the commit of
 * the change until any instance has delivered them.
 */
export function createWebhooks({ store, webhooks, onError, times, ...delivery }: WebhooksOptions): Webhooks {
  const receivers = webhooks.map((webhook, i) => readReceiver(webhook, `webhooks[${i}]`, delivery))
  const urls = receivers.map(({ url }) => url)
  const twice = urls.find((url, i) => urls.indexOf(url) !== i)
  if (twice !== undefined) throw invalid(`webhooks[${urls.lastIndexOf(twice)}].url: it is listed twice.`)

  const jobs = createJobs({ store, report: (error) => void reportError(error, onError), times })
  jobs.register({
    [JOB]: {
      handle: deliverPending(store, receivers),
      retry: RETRY_FOR_A_DAY,
      deliver: createDelivery({
        ...delivery,
        allow: [...(delivery.allow ?? []), ...webhooks.flatMap(({ allow }) => allow ?? [])],
      }),
    },
  })
  const watched = new Map<string, () => void>()

  /** Starts delivery as soon as the change is committed. */
  function wakeAfterCommit(partition: string): void {
    watched.get(partition)?.()
    const unwatch = store.watch(partition, jobs.wake)
    const stop = () => {
      clearTimeout(timer)
      unwatch()
      watched.delete(partition)
    }
    const timer = startTimer(COMMIT_MS, stop)
    watched.set(partition, stop)
  }

  return {
    opsOf(event) {
      const partition = partitionOf(event.deploymentId)
      const receiving = receivers.filter(({ wants }) => wants(event))
      if (receiving.length > 0) wakeAfterCommit(partition)
      return receiving.flatMap(({ url }): Op[] => [
        {
          op: 'put',
          collection: COLLECTION,
          id: uuid7(event.at),
          value: event as unknown as Json,
          index: { [fieldOf(partition, url)]: orderOf(event) },
          ttlMs: LIFETIME_MS,
        },
        putJobOp({ id: `webhook:${url}`, kind: JOB, data: { url } }),
      ])
    },
    async close() {
      for (const stop of [...watched.values()]) stop()
      await jobs.close()
    },
  }
}

function readReceiver(
  { url, secret, events, allow = [] }: WebhookOptions,
  name: string,
  delivery: Pick<DeliveryOptions, 'allow' | 'allowLoopback'>,
): Receiver {
  try {
    checkUrl(url, { ...delivery, allow: [...(delivery.allow ?? []), ...allow] })
  } catch (error) {
    throw invalid(`${name}.url: ${(error as Error).message}`)
  }
  const unknown = events?.find((type) => !WEBHOOK_EVENT_TYPES.includes(type))
  if (unknown !== undefined)
    throw invalid(`${name}.events: ${unknown} is not one of ${WEBHOOK_EVENT_TYPES.join(', ')}.`)
  return {
    url,
    secrets: readSecrets(`${name}.secret`, secret),
    wants: (event) => events?.includes(eventType(event)) ?? true,
  }
}

const invalid = (message: string): AgentwireError => new AgentwireError('invalid_webhook', message)

/**
 * Posts a deployment's pending messages one by one. Messages that are rejected permanently are skipped and
 * reported.
 */
const deliverPending =
  (store: Store, receivers: readonly Receiver[]): JobHandler =>
  async ({ partition, data }, tools) => {
    const { signal } = tools
    const { url } = data as { readonly url: string }
    const receiver = receivers.find((known) => known.url === url)
    for (;;) {
      const { docs } = await store.list(COLLECTION, { orderBy: fieldOf(partition, url), limit: PAGE })
      if (docs.length === 0) return
      for (const { id, value } of docs) {
        signal.throwIfAborted()
        // Messages of a removed webhook are dropped.
        if (receiver) await post(tools, receiver, id, payloadOf(value as unknown as StatusEvent))
        await store.commit(partition, { ops: [{ op: 'delete', collection: COLLECTION, id }] })
      }
    }
  }

async function post(
  { deliver, skip }: JobTools,
  { url, secrets }: Receiver,
  id: string,
  body: string,
): Promise<void> {
  const signed = await signedHeaders(secrets, { id, body, now: Date.now() })
  try {
    await deliver({ url, headers: { 'content-type': 'application/json', ...signed }, body })
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.retryable) throw error
    skip(error)
  }
}

const PREFIX = 'whsec_'
/** The length of a secret that Standard Webhooks requires, in bytes. */
const [MIN_BYTES, MAX_BYTES] = [24, 64]

const encoder = new TextEncoder()

/** Reads a webhook's secrets. Throws for invalid ones, without revealing any part of them. */
function readSecrets(name: string, secret: string | readonly string[]): readonly Uint8Array<ArrayBuffer>[] {
  // Undefined if an environment variable is not set.
  const texts: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  const secrets = texts.map((text) => fromBase64(String(text).replace(PREFIX, '')))
  const isGood = (bytes: Uint8Array | undefined) =>
    bytes !== undefined && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES
  if (secrets.length === 0 || !secrets.every(isGood))
    throw new AgentwireError(
      'invalid_webhook',
      `${name}: a secret must be 'whsec_' and ${MIN_BYTES} to ${MAX_BYTES} bytes in base64. Generate one with \`echo whsec_$(openssl rand -base64 32)\`, and share it with the receiver.`,
    )
  return secrets as readonly Uint8Array<ArrayBuffer>[]
}

/**
 * The Standard Webhooks headers that receivers verify messages by. Each secret creates a signature, so a
 * receiver may know any of them.
 */
async function signedHeaders(
  secrets: readonly Uint8Array<ArrayBuffer>[],
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signed = encoder.encode(`${id}.${timestamp}.${body}`)
  const signatures = secrets.map(async (secret) => {
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ])
    return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)))}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  }
}
