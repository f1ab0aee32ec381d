/** Milliseconds by the monotonic clock that all processes of a machine share. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

/** A pause of so many milliseconds and up to half as long again, so that it never falls in step with somebody's timer. */
export const unevenPause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms * (1 + Math.random() / 2)))
