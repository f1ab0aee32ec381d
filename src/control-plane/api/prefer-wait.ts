import { onAbort } from './on-abort.ts'

/** How long an answer may be held back at most, in seconds: proxies in between end what is silent for longer. */
const MAX_SECONDS = 60
/** Notifications of a store that processes share may be lost: it is asked again after so many milliseconds. */
const RECHECK_MS = 5_000

/** The seconds of `Prefer: wait=N` (RFC 7240 §4.3), at most 60. Undefined where the client does not ask for them. */
export function secondsToWait({ headers }: Request): number | undefined {
  const preferences = (headers.get('prefer') ?? '').split(',').map((preference) => preference.split(';')[0]!)
  for (const preference of preferences) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i.exec(preference) ?? []
    if (seconds !== undefined) return Math.min(Number(seconds), MAX_SECONDS)
  }
  return undefined
}

export interface WaitOptions<T> {
  readonly seconds: number
  readonly read: () => Promise<T>
  readonly isDone: (value: T) => boolean
  /** Settles at a change, after so many milliseconds, or when the signal aborts. */
  readonly changed: (ms: number, signal: AbortSignal) => Promise<void>
  /** Each ends the wait. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

/** Reads until it is done, after each change. Gives what was read last where the time is over, or a signal has aborted. */
export async function readUntil<T>(options: WaitOptions<T>): Promise<T> {
  const { seconds, read, isDone, changed, signals } = options
  const endsAt = Date.now() + seconds * 1_000
  const ended = new AbortController()
  const end = () => ended.abort()
  const stops = signals.map((signal) => onAbort(signal, end))
  try {
    for (;;) {
      const left = endsAt - Date.now()
      // It listens before it reads, so that no change in between is missed.
      const next = changed(Math.min(Math.max(left, 0), RECHECK_MS), ended.signal)
      const value = await read()
      if (isDone(value) || left <= 0 || ended.signal.aborted) return value
      await next
    }
  } finally {
    end()
    for (const stop of stops) stop()
  }
}
