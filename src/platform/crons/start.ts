import { HttpError } from '../../http/index.ts'
import { namedAssistant } from '../../requests/assistants.ts'
import { readBy } from '../../requests/body.ts'
import { runConfig } from '../../requests/run-config.ts'
import { list, object, oneOf, optional, record, string, unknown, whole } from '../../requests/schema.ts'
import type { AgentEngine } from '../../runs/index.ts'
import type { Json } from '../../storage/store/store.ts'
import type { CronContext } from './fire.ts'

/** The request of a run, as a cron keeps it. */
const runSchema = object({
  input: unknown,
  config: optional(
    object({
      configurable: optional(record),
      recursion_limit: optional(whole(1)),
      tags: optional(list(string, 0, 1_000)),
      metadata: optional(record),
    }),
  ),
  context: optional(record),
  multitask_strategy: optional(oneOf('reject', 'interrupt', 'rollback', 'enqueue')),
})

/** The request of each run of a cron. Throws 400 for one that is not right. */
export const runOf = (payload: unknown) =>
  readBy(runSchema, payload, (message) => new HttpError(400, 'invalid_argument', message))

/** The assistant that a request names. Throws 404. */
export function assistantIdOf({ engine }: Pick<CronContext, 'engine'>, named: string): string {
  const id = namedAssistant(engine, named)
  if (id !== undefined && engine.agents.has(id)) return id
  const message = `No assistant found for ${JSON.stringify(named)}. Make sure the assistant ID is for a valid assistant or a valid graph ID.`
  throw new HttpError(404, 'not_found', message)
}

/** Starts a run of a cron, for who made it. */
export const startCronRun =
  (engine: AgentEngine): CronContext['startRun'] =>
  async ({ payload, principal, assistantId, threadId: ownThread }, { threadId, command, metadata }) => {
    const { input, config, context, multitask_strategy } = runOf(payload)
    return engine.start({
      threadId,
      command,
      principal,
      assistantId,
      input,
      metadata,
      mustExist: ownThread !== null,
      multitaskStrategy: multitask_strategy,
      config: { ...runConfig(config, metadata, engine.limits), ...(context && { context: context as Json }) },
    })
  }
