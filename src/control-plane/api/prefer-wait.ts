import { onAbort } from './on-abort.ts'

/** The longest wait, in seconds: proxies close connections that are silent for longer. */
const MAX_SECONDS = 60
/** Notifications of a shared store may be lost, so the wait reads again after this time, in milliseconds. */
const RECHECK_MS = 5_000

/** The seconds in `Prefer: wait=N` (RFC 7240 §4.3), at most 60. Undefined without it. */
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
  /** Resolves at a change, after `ms` milliseconds, or when the signal aborts. */
  readonly changed: (ms: number, signal: AbortSignal) => Promise<void>
  /** Each ends the wait. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

/** Reads after each change until `isDone`. After a timeout or abort, returns the last value. */
export async function readUntil<T>(options: WaitOptions<T>): Promise<T> {
  const { seconds, read, isDone, changed, signals } = options
  const ended = new AbortController()
  const end = () => ended.abort()
  const stops = signals.map((signal) => onAbort(signal, end))
  const timer = setTimeout(end, seconds * 1_000)
  if (seconds === 0) end()
  try {
    for (;;) {
      // It listens before it reads, so that it misses no change in between.
      const next = changed(RECHECK_MS, ended.signal)
      const value = await read()
      if (isDone(value) || ended.signal.aborted) return value
      await next
    }
  } finally {
    clearTimeout(timer)
    end()
    for (const stop of stops) stop()
  }
}
