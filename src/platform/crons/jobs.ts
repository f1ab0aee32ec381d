/** The jobs of crons in the outbox: a date of a cron, and a run whose thread goes when it has ended. */
export const CRON_JOB = 'cron'
export const FINISH_JOB = 'cron_run'
