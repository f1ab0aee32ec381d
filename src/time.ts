/**
 * Settles after `ms` milliseconds, which may be infinite, or as soon as one of the signals aborts. Leaves no timer and no listener behind.
 */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = ms < Number.POSITIVE_INFINITY ? setTimeout(end, ms) : undefined
    for (const signal of signals) signal.addEventListener('abort', end)
  })
}

/** Settles after `ms` milliseconds. Rejects with the signal's reason when that aborts first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await (signal ? pause(ms, signal) : pause(ms))
  signal?.throwIfAborted()
}

/**
 * The delay before attempt `attempt + 1`, in milliseconds: `firstMs`, doubled with each attempt up to `maxMs`, less a random part of up to a
 * quarter, which keeps clients that failed together from trying again together.
 */
export const backoff = (attempt: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** attempt) * (1 - Math.random() / 4)

/** `ms` with a random part of a quarter more or less, which keeps instances that started together from working together. */
export const jitter = (ms: number): number => ms * (0.75 + Math.random() / 2)

/** As `setTimeout`, with a timer that does not keep the process alive. */
export function startTimer(ms: number, callback: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, ms)
  // Outside Node a timer may be a number.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

/** Settles after this turn of the event loop, in which all promises that can settle have settled. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate) setImmediate(resolve)
    else setTimeout(resolve, 0)
  })

/** Settles with `work`, or after so many milliseconds without it. Leaves no timer behind. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
