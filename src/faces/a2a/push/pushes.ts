import { createDelivery, DELIVERY_OPTIONS, type DeliveryOptions } from '../../../core/egress/delivery.ts'
import type { OptionTable } from '../../../core/options.ts'
import { type JobHandler, type JobKinds, RETRY_FOR_A_DAY } from '../../../storage/jobs/kind.ts'
import { type Follower, PUSH_JOB } from './configs.ts'

/** How push notifications are delivered. */
export interface A2APushOptions extends DeliveryOptions {}

export const PUSH_OPTIONS: OptionTable<A2APushOptions> = DELIVERY_OPTIONS

/** The job of each push config, which follows a task for its receiver. */
export const pushJobs = (follow: JobHandler, options: A2APushOptions): JobKinds => ({
  [PUSH_JOB]: {
    handle: follow,
    retry: RETRY_FOR_A_DAY,
    deliver: createDelivery(options),
    // The run that started the task.
    originOf: ({ partition, data }) => ({
      threadId: partition,
      runId: (data as unknown as Follower).runId,
    }),
  },
})
