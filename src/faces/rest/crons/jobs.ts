/** A cron. The job is due when the cron is. */
export const CRON_JOB = 'cron'
/** A run whose thread is deleted after the run has ended. */
export const FINISH_JOB = 'cron_run'
