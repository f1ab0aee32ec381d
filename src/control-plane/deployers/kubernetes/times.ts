import { setTimeout as delay } from 'node:timers/promises'

/** Settles after so many milliseconds. Rejects with the signal's reason when that aborts first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}

/** A wait that doubles with each attempt up to a bound. A random part keeps those that began together apart. */
export const backOff = (attempt: number, ms: number, mostMs: number): number =>
  Math.min(mostMs, ms * 2 ** attempt) * (0.75 + Math.random() / 2)
