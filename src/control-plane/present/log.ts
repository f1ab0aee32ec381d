import type { LogLine } from '../logs/logs.ts'
import { isoTime } from './present.ts'

export const presentLine = ({ id, at, level, message, revisionId, runId }: LogLine) => ({
  id,
  timestamp: isoTime(at),
  level,
  message,
  // A line of the server's log may be of no revision.
  revision_id: revisionId || null,
  run_id: runId ?? null,
})

/** The old routes answer times as numbers, which the command-line tools write out in their own form. */
export const presentProjectLine = ({ id, at, level, message }: LogLine) => ({
  id,
  timestamp: at,
  level,
  message,
})
