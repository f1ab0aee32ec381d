/**
 * Resolves after `ms` milliseconds (may be infinite), or when one of the signals aborts. Leaves no timer or
 * listener behind.
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

/** Resolves after `ms` milliseconds. Rejects with the signal's reason if it aborts first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await (signal ? pause(ms, signal) : pause(ms))
  signal?.throwIfAborted()
}

/**
 * The delay before attempt `attempt + 1`, in milliseconds: `firstMs`, doubled for each attempt up to `maxMs`,
 * minus a random part of up to a quarter, so that clients that failed together do not retry together.
 */
export const backoff = (attempt: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** attempt) * (1 - Math.random() / 4)

/**
 * `ms` plus or minus a random part of up to a quarter, so that instances that started together do not work in
 * step.
 */
export const jitter = (ms: number): number => ms * (0.75 + Math.random() / 2)

/** Like `setTimeout`, but the timer does not keep the process alive. */
export function startTimer(ms: number, callback: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, ms)
  // Outside Node a timer may be a number.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

/** Resolves after the current turn of the event loop, when all promises that can settle have settled. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate) setImmediate(resolve)
    else setTimeout(resolve, 0)
  })

/** The longest work between two turns, in milliseconds. */
const TURN_MS = 10

/**
 * For long work over a store that may respond immediately: call and await it in each step, so that timers,
 * leases and other requests get their turn. Most steps cost a look at the clock.
 */
export function eventLoopTurns(): () => Promise<void> | undefined {
  let since = performance.now()
  return () =>
    performance.now() - since < TURN_MS
      ? undefined
      : nextTurn().then(() => {
          since = performance.now()
        })
}

/** Settles with `work`, or resolves after `ms` milliseconds without it. Leaves no timer behind. */
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
