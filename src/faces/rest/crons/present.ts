import type { CronRecord, LastRun } from './records.ts'
import type { CronField } from './wire.ts'

/**
 * A cron in the format of the platform's clients. `last_run` is an addition of this server: what happened at
 * the last due time.
 */
export function presentCron(cron: CronRecord): Readonly<Record<Exclude<CronField, 'now'>, unknown>> {
  return {
    cron_id: cron.cronId,
    assistant_id: cron.assistantId,
    thread_id: cron.threadId,
    user_id: cron.principal?.id ?? null,
    payload: cron.payload,
    schedule: cron.schedule,
    timezone: cron.timezone,
    next_run_date: dateOf(cron.nextRun),
    end_time: dateOf(cron.endTime),
    on_run_completed: cron.onRunCompleted,
    enabled: cron.enabled,
    metadata: cron.metadata,
    created_at: dateOf(cron.createdAt),
    updated_at: dateOf(cron.updatedAt),
    last_run: cron.lastRun && presentLastRun(cron.lastRun),
  }
}

const presentLastRun = ({ due, at, missed, runId, threadId, error }: LastRun) => ({
  due_at: dateOf(due),
  started_at: dateOf(at),
  missed,
  run_id: runId,
  thread_id: threadId,
  error,
})

export const dateOf = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()
