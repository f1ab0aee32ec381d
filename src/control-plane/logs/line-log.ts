import type { LogLevel } from '../deployers/deployer.ts'
import type { LogPlace, Logs } from './logs.ts'

export interface LineLogOptions {
  /** The revision that the lines are of. */
  readonly revisionId: string
  /** What hides the values of secrets: see `maskSecrets`. */
  readonly mask: (text: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The run that a line names, as servers write it in JSON or as `run_id=…`. */
const RUN_ID = /run_?id\W{1,4}([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/i

/** What a deployer logs with. Values are hidden before anything is kept, and text of several lines becomes several lines. */
export function createLineLog(
  logs: Logs,
  place: LogPlace,
  { revisionId, mask, now }: LineLogOptions,
): (text: string, level?: LogLevel) => void {
  return (text, level = 'INFO') => {
    const at = now()
    for (const message of mask(text)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)) {
      const runId = RUN_ID.exec(message)?.[1]
      logs.append(place, { at, level, message, revisionId, runId })
    }
  }
}
