import { createDelivery, DELIVERY_OPTIONS, type DeliveryOptions } from '../../../core/egress/delivery.ts'
import type { OptionTable } from '../../../core/options.ts'
import { putJobOp, removeJobOp } from '../../../storage/jobs/job.ts'
import { type JobHandler, type JobKinds, RETRY_FOR_A_DAY } from '../../../storage/jobs/kind.ts'
import type { Json, Op, Store } from '../../../storage/store/store.ts'
import type { PushConfig } from '../model.ts'

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

/** The data of a config's job: the task that it follows, and its progress. */
export interface Follower {
  /** The first run of the task. */
  readonly runId: string
  readonly configId: string
  readonly contextId: string
  readonly owner: string | null
  /** The dialect in which the config was sent. */
  readonly version: '0.3' | '1.0'
  /** The last change of the task that was delivered. */
  readonly told: string | null
}

/** A config as it is stored, with the receiver's secrets, which every delivery needs. */
export type KnownPush = PushConfig & { readonly id: string }

const COLLECTION = 'a2a_push_configs'

/** The kind of the job of a config. */
const PUSH_JOB = 'a2a_push'

/** The id of a config and its job. */
const keyOf = (runId: string, configId: string): string => `${runId}:${configId}`

/** Stores a config, with the job that follows the task for it. */
export function putPush(config: KnownPush, follower: Follower): readonly Op[] {
  const { runId } = follower
  const id = keyOf(runId, config.id)
  return [
    { op: 'put', collection: COLLECTION, id, value: config as unknown as Json, index: { task: runId } },
    putJobOp({ id, kind: PUSH_JOB, data: follower as unknown as Json }),
  ]
}

export function removePush(runId: string, configId: string): readonly Op[] {
  const id = keyOf(runId, configId)
  return [{ op: 'delete', collection: COLLECTION, id }, removeJobOp(id)]
}

/** A config of a task, or undefined. */
export async function loadPush(
  store: Store,
  threadId: string,
  { runId, configId }: Pick<Follower, 'runId' | 'configId'>,
): Promise<KnownPush | undefined> {
  const doc = await store.get(threadId, COLLECTION, keyOf(runId, configId))
  return doc?.value as unknown as KnownPush | undefined
}

/** The configs of a task, ordered by id. */
export async function loadPushes(
  store: Store,
  threadId: string,
  runId: string,
): Promise<readonly KnownPush[]> {
  const { docs } = await store.list(COLLECTION, { partition: threadId, where: { task: runId } })
  return docs.map(({ value }) => value as unknown as KnownPush)
}
