import { type OnError, reportError } from '../../http/index.ts'
import type { OptionTable } from '../../options.ts'
import { checkUrl } from '../../outbox/delivery/check-url.ts'
import { createDelivery, type DeliveryOptions } from '../../outbox/delivery/delivery.ts'
import type { OutboxJob } from '../../outbox/job.ts'
import { createOutbox, type Outbox } from '../../outbox/outbox.ts'
import type { AgentEngine } from '../../runs/index.ts'
import { A2AError } from '../errors.ts'
import type { PushConfig } from '../model.ts'
import { type Follower, PUSH_JOB } from './configs.ts'
import { credentialsOf, followForPush } from './follower.ts'

/** How push notifications are delivered. */
export interface A2APushOptions
  extends Pick<DeliveryOptions, 'allow' | 'allowLoopback' | 'timeoutMs' | 'maxResponseBytes' | 'lookup'> {}

export const PUSH_OPTIONS: OptionTable<A2APushOptions> = {
  allowLoopback: 'boolean',
  allow: 'list',
  timeoutMs: 'number',
  maxResponseBytes: 'number',
  lookup: 'function',
}

/** What sends push notifications. */
export interface Pushes {
  readonly outbox: Outbox
  /** Throws `invalid_params` for a config that nothing could be delivered to. */
  check(config: PushConfig): void
}

export function createPushes(
  engine: AgentEngine,
  options: A2APushOptions,
  onError: OnError | undefined,
): Pushes {
  const outbox = createOutbox({
    store: engine.store,
    handlers: { [PUSH_JOB]: followForPush(engine) },
    deliver: createDelivery(options),
    report: (error, job) => void reportError(error, onError, { threadId: job?.partition, runId: runOf(job) }),
    onUndelivered: ({ job, kind, host, failures, error }) =>
      engine.observe({
        type: 'delivery.failed',
        kind,
        threadId: job.partition,
        runId: runOf(job) ?? null,
        host: host ?? null,
        failures,
        error,
        at: Date.now(),
      }),
  })
  return { outbox, check: (config) => check(config, options) }
}

/** The run that began the task which is told. */
const runOf = (job: OutboxJob | undefined): string | undefined =>
  (job?.data as unknown as Follower | undefined)?.runId

/** What one task may have. */
export const MAX_PUSHES = 20
const MAX_LENGTH = 4_096

function check(config: PushConfig, options: A2APushOptions): void {
  const { id = '', url } = config
  if (url.length > MAX_LENGTH || id.length > 256) throw refused('the id or the url is too long.')
  try {
    checkUrl(url, options)
  } catch (error) {
    throw refused(`url: ${(error as Error).message}`)
  }
  for (const value of Object.values(credentialsOf(config)))
    if (value.length > MAX_LENGTH || !/^[\x20-\x7e]*$/.test(value))
      throw refused(`a token or a credential is at most ${MAX_LENGTH} characters that a header may have.`)
}

const refused = (why: string): A2AError => new A2AError('invalid_params', `pushNotificationConfig: ${why}`)
