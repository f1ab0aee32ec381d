/** Milliseconds by the monotonic clock that all processes of a machine share. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

/** Waits so many milliseconds and up to half as long again, so that it does not synchronize with another timer. */
export const unevenPause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms * (1 + Math.random() / 2)))
