import { checkUrl } from '../../../core/egress/check-url.ts'
import { uuidOf } from '../../../core/ids.ts'
import { internalsOf, jobsOf } from '../../../engine/index.ts'
import type { ThreadAction } from '../../kit/access.ts'
import { A2AError } from '../errors.ts'
import type { PushConfig, PushConfigRequest } from '../model.ts'
import { credentialsOf } from '../push/follower.ts'
import {
  type A2APushOptions,
  type KnownPush,
  loadPush,
  loadPushes,
  putPush,
  removePush,
} from '../push/pushes.ts'
import { taskIdOf } from '../tasks/ids.ts'
import type { FoundTask } from '../tasks/present.ts'
import { permittedTask } from './find.ts'
import type { A2ACall, Operations } from './operations.ts'

/** The delivery options of pushes. Throws `push_notification_not_supported`. */
export function pushOptionsOf({ context }: A2ACall): A2APushOptions {
  if (context.push) return context.push
  throw new A2AError('push_notification_not_supported', 'This server sends no push notifications.')
}

/** Stores a config for the changes of a task, and starts sending them. Replaces a config with the same id. */
export async function savePush(call: A2ACall, found: FoundTask, config: PushConfig): Promise<KnownPush> {
  checkPush(config, pushOptionsOf(call))
  const { engine } = call.context
  const { contextId, thread, record } = found
  const { threadId, owner } = thread
  const { version } = call.dialect
  const runId = record.taskId
  const taskId = taskIdOf(contextId, runId)
  // In v0.3 a config without an id gets the id of its task. In v1.0 the server creates one, which stays the
  // same if the request is repeated.
  const known = {
    ...config,
    id: config.id || (version === '0.3' ? taskId : await uuidOf([runId, config.url])),
  }
  const others = await loadPushes(internalsOf(engine).store, threadId, runId)
  if (others.length >= MAX_PUSHES && !others.some(({ id }) => id === known.id))
    throw new A2AError('unsupported_operation', `A task has at most ${MAX_PUSHES} push notification configs.`)
  const follower = { runId, configId: known.id, contextId, owner, version, told: null }
  await internalsOf(engine).store.commit(threadId, { ops: putPush(known, follower) })
  jobsOf(engine).wake()
  return known
}

export const setPush: Operations['setPush'] = async (call, { taskId, config }) => {
  checkPush(config, pushOptionsOf(call))
  const { found } = await permittedTask(call, 'threads:update', { id: taskId })
  return { taskId, config: await savePush(call, found, config) }
}

export const getPush: Operations['getPush'] = async (call, request) => {
  const { config } = await findPush(call, 'threads:read', request)
  if (config) return { taskId: request.taskId, config }
  throw new A2AError('task_not_found', 'The task has no such push notification config.')
}

export const listPush: Operations['listPush'] = async (call, { taskId }) => {
  pushOptionsOf(call)
  const { thread, record } = (await permittedTask(call, 'threads:read', { id: taskId })).found
  const configs = await loadPushes(internalsOf(call.context.engine).store, thread.threadId, record.taskId)
  return configs.map((config) => ({ taskId, config }))
}

export const deletePush: Operations['deletePush'] = async (call, request) => {
  const { threadId, runId, config } = await findPush(call, 'threads:update', request)
  if (config)
    await internalsOf(call.context.engine).store.commit(threadId, { ops: removePush(runId, config.id) })
}

/** The config with the given id, or the first one for a v0.3 client that sends no id. */
async function findPush(call: A2ACall, action: ThreadAction, { taskId, configId }: PushConfigRequest) {
  pushOptionsOf(call)
  const { store } = internalsOf(call.context.engine)
  const { thread, record } = (await permittedTask(call, action, { id: taskId })).found
  const { threadId } = thread
  const runId = record.taskId
  const config = configId
    ? await loadPush(store, threadId, { runId, configId })
    : (await loadPushes(store, threadId, runId))[0]
  return { threadId, runId, config }
}

/** The maximum of configs for one task. */
const MAX_PUSHES = 20
const MAX_LENGTH = 4_096

/** Throws `invalid_params` for a config that cannot be delivered to. */
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
      throw refused(
        `a token or credential must be at most ${MAX_LENGTH} characters that are valid in a header.`,
      )
}

const refused = (why: string): A2AError => new A2AError('invalid_params', `pushNotificationConfig: ${why}`)
