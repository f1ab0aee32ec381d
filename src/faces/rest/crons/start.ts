import { HttpError, type Principal } from '../../../core/http/index.ts'
import { withAccess } from '../../../core/principal.ts'
import { noSuchThread } from '../../../engine/errors.ts'
import { unasked } from '../../kit/asking.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { readBy } from '../../kit/body.ts'
import type { StartContext } from '../context.ts'
import { unknownAssistant } from '../runs/config.ts'
import { startPlatformRun } from '../runs/start-run.ts'
import { type RunCreate, runCreateSchema } from '../runs/wire.ts'
import type { CronContext } from './fire.ts'
import type { CronRecord } from './records.ts'

/**
 * The request of each run of a cron. Throws 400 if it is invalid, for example if its webhook cannot be
 * called.
 */
export async function runOf(
  { webhooks }: Pick<StartContext, 'webhooks'>,
  { assistantId, payload }: Pick<CronRecord, 'assistantId' | 'payload'>,
): Promise<RunCreate> {
  const body = { ...payload, assistant_id: assistantId }
  const run = readBy(runCreateSchema, body, (message) => new HttpError(400, 'invalid_argument', message))
  if (run.webhook !== undefined) await webhooks.check(run.webhook, undefined)
  return run
}

/** The assistant that a request names, by its UUID or graph name. Throws 404. */
export async function assistantOf(
  { engine }: Pick<CronContext, 'engine'>,
  principal: Principal | null,
  named: string,
): Promise<{ readonly assistantId: string; readonly graphId: string }> {
  const { graphId, assistant } = await namedAssistant(engine, principal, named)
  if (graphId !== undefined && engine.agents.has(graphId))
    return { assistantId: assistant?.assistantId ?? graphId, graphId }
  throw unknownAssistant(engine, named)
}

/** Starts a run of a cron, for the principal who created the cron. */
export const startCronRun =
  (served: Omit<StartContext, 'engine'> & Pick<CronContext, 'engine'>): CronContext['startRun'] =>
  async (cron, { threadId, command, metadata }) => {
    // Its permission was asked for when the cron was made.
    const context = { ...served, engine: unasked(served.engine) }
    const { owner, metadataFilter } = cron
    const principal = cron.principal && withAccess(cron.principal, { owner, metadataFilter })
    const ofThread = cron.threadId !== null
    if (ofThread && !(await context.engine.findThread({ threadId, principal }))) throw noSuchThread(threadId)
    return startPlatformRun(
      context,
      { principal, threadId, key: command },
      { ...(await runOf(context, cron)), metadata, if_not_exists: ofThread ? 'reject' : 'create' },
    )
  }
