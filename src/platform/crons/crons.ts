import { reportError } from '../../http/index.ts'
import { createOutbox, type Outbox } from '../../outbox/outbox.ts'
import type { OutboxTimes } from '../../outbox/work.ts'
import type { CronContext } from './fire.ts'
import { CRON_JOB, FINISH_JOB } from './jobs.ts'

/** Starts the runs of crons as they are due, on whichever instance is first. */
export const createCrons = (context: CronContext & { readonly times?: Partial<OutboxTimes> }): Outbox =>
  createOutbox({
    store: context.engine.store,
    handlers: {
      [CRON_JOB]: async (...job) => (await loadHandlers()).fireCron(context)(...job),
      [FINISH_JOB]: async (...job) => (await loadHandlers()).finishRun(context.engine)(...job),
    },
    // Nothing of a cron is posted anywhere.
    deliver: async () => ({ status: 204 }),
    report: (error, job) => void reportError(error, context.onError, { threadId: job?.partition }),
    times: context.times,
  })

const loadHandlers = () => import('./handlers.ts')
