/** A cron, which is due at its time. */
export const CRON_JOB = 'cron'
/** A run whose thread is deleted when it has ended. */
export const FINISH_JOB = 'cron_run'
