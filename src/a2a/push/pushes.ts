import { checkUrl } from '../../egress/check-url.ts'
import { createDelivery, DELIVERY_OPTIONS, type DeliveryOptions } from '../../egress/delivery.ts'
import type { JobKinds } from '../../jobs/kind.ts'
import { RETRY_FOR_A_DAY } from '../../jobs/retry-rule.ts'
import type { OptionTable } from '../../options.ts'
import type { AgentEngine } from '../../runs/index.ts'
import { A2AError } from '../errors.ts'
import type { PushConfig } from '../model.ts'
import { type Follower, PUSH_JOB } from './configs.ts'
import { credentialsOf, followForPush } from './follower.ts'

/** How push notifications are delivered. */
export interface A2APushOptions extends DeliveryOptions {}

export const PUSH_OPTIONS: OptionTable<A2APushOptions> = DELIVERY_OPTIONS

/** The job of each push config, which follows a task for its receiver. */
export const pushJobs = (engine: AgentEngine, options: A2APushOptions): JobKinds => ({
  [PUSH_JOB]: {
    handle: followForPush(engine),
    retry: RETRY_FOR_A_DAY,
    deliver: createDelivery(options),
    // The run that began the task.
    originOf: ({ partition, data }) => ({
      threadId: partition,
      runId: (data as unknown as Follower).runId,
    }),
  },
})

/** What one task may have. */
export const MAX_PUSHES = 20
const MAX_LENGTH = 4_096

/** Throws `invalid_params` for a config that nothing could be delivered to. */
export function checkPush(config: PushConfig, options: A2APushOptions): void {
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
