import { DeliveryError } from '../../../core/egress/errors.ts'
import { actingFor } from '../../../core/principal.ts'
import { internalsOf, isAnswerEnded, type ServedEngine, untilAnswered } from '../../../engine/index.ts'
import type { JobHandler, JobTools } from '../../../storage/jobs/kind.ts'
import type { Json } from '../../../storage/store/store.ts'
import { dialectOfVersion } from '../dialects/choose.ts'
import type { StreamItem, Task } from '../model.ts'
import { presentTask } from '../tasks/present.ts'
import { type Follower, type KnownPush, loadPush } from './pushes.ts'

/**
 * Follows a task to its end and delivers each change of its state, in order, at least once. If a process is
 * lost, another one continues after the last delivered change. A change that is outdated before it can be
 * delivered is skipped, but never the last one.
 */
export const followForPush =
  (engine: ServedEngine): JobHandler =>
  async ({ partition: threadId, data }, tools) => {
    const { save, signal } = tools
    let follower = data as unknown as Follower
    for (;;) {
      const { runId, contextId, owner } = follower
      const asked = { threadId, principal: actingFor(owner), answerId: runId, signal }
      const answer = await engine.follow(asked)
      const config = answer && (await loadPush(internalsOf(engine).store, threadId, follower))
      if (!config) return
      const { found } = answer
      const { state, updatedAt } = found.record
      const told = `${state} ${updatedAt}`
      if (told !== follower.told) {
        await notify(tools, config, follower, await presentTask(engine, { contextId, ...found }))
        follower = { ...follower, told }
        await save(follower as unknown as Json)
      }
      if (isAnswerEnded(found.record)) return
      if (state === 'input-required') await untilAnswered(engine, asked)
      else await answer.ended()
    }
  }

/**
 * Delivers the current task. If a receiver rejects it permanently, this change is not retried, but the next
 * one is delivered.
 */
async function notify(
  { deliver, skip }: JobTools,
  config: KnownPush,
  { version }: Follower,
  task: Task,
): Promise<void> {
  const { id: taskId, contextId, status } = task
  const isWorking = status.state === 'submitted' || status.state === 'working'
  const item: StreamItem = isWorking
    ? { type: 'status', taskId, contextId, status, final: false }
    : { type: 'task', task }
  const { body, contentType } = dialectOfVersion(version).writeNotification(item, task)
  const headers = { 'content-type': contentType, 'a2a-version': version, ...credentialsOf(config) }
  try {
    await deliver({ url: config.url, headers, body: JSON.stringify(body) })
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.retryable) throw error
    skip(error)
  }
}

/** The headers that authenticate a notification to the receiver. */
export function credentialsOf({
  token,
  authentication,
}: Pick<KnownPush, 'token' | 'authentication'>): Record<string, string> {
  const { schemes: [scheme] = [], credentials } = authentication ?? {}
  return {
    ...(token && { 'x-a2a-notification-token': token }),
    ...(scheme && credentials && { authorization: `${scheme} ${credentials}` }),
  }
}
