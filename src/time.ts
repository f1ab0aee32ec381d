/** Settles after so many milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

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
