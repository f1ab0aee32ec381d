import type { LogLine } from '../logs/logs.ts'
import { isoTime } from './present.ts'

export const presentLine = ({ id, at, level, message, revisionId, runId }: LogLine) => ({
  id,
  timestamp: isoTime(at),
  level,
  message,
  // A server log line may belong to no revision.
  revision_id: revisionId || null,
  run_id: runId ?? null,
})

/** The old routes return times as numbers, which the command-line tools format themselves. */
export const presentProjectLine = ({ id, at, level, message }: LogLine) => ({
  id,
  timestamp: at,
  level,
  message,
})
