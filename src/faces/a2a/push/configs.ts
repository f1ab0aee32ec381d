import { putJobOp, removeJobOp } from '../../../storage/jobs/job.ts'
import type { Json, Op, Store } from '../../../storage/store/store.ts'
import type { PushConfig } from '../model.ts'

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
export const PUSH_JOB = 'a2a_push'

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
