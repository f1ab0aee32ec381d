import type { LogLevel } from '../deployers/deployer.ts'
import type { LogPlace, Logs } from './logs.ts'

export interface LineLogOptions {
  /** The revision of the lines. */
  readonly revisionId: string
  /** Masks the values of secrets: see `maskSecrets`. */
  readonly mask: (text: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The run that a line names, as servers write it in JSON or as `run_id=…`. */
const RUN_ID = /run_?id\W{1,4}([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/i

/** A deployer's `log`. It masks secrets before anything is stored, and splits text into lines. */
export function createLineLog(
  logs: Logs,
  place: LogPlace,
  { revisionId, mask, now }: LineLogOptions,
): (text: string, level?: LogLevel) => void {
  return (text, level = 'INFO') => {
    const at = now()
    const lines = mask(text)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
    for (const message of lines)
      logs.append(place, { at, level, message, revisionId, runId: RUN_ID.exec(message)?.[1] })
  }
}
