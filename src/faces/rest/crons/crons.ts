import type { JobKinds } from '../../../storage/jobs/kind.ts'
import { RETRY_FOR_A_DAY } from '../../../storage/jobs/retry-rule.ts'
import type { CronContext } from './fire.ts'
import { CRON_JOB, FINISH_JOB } from './jobs.ts'

/** The jobs that start the runs of due crons and delete the threads of those runs. */
export const cronJobs = (context: CronContext): JobKinds => ({
  [CRON_JOB]: {
    handle: async (...job) => (await loadHandlers()).fireCron(context)(...job),
    retry: RETRY_FOR_A_DAY,
  },
  [FINISH_JOB]: {
    handle: async (...job) => (await loadHandlers()).finishRun(context.engine)(...job),
    retry: RETRY_FOR_A_DAY,
  },
})

const loadHandlers = () => import('./handlers.ts')
