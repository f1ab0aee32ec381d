/** The time for a call was over. */
export class Late extends Error {}

/** The result of `work`, unless `ms` milliseconds are over or the signal fires before. It is for every call, so it has few parts. */
export function inTime<T>(ms: number, signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(rejectLate, ms, reject, ms)
    const stopListening = signal && rejectOnAbort(signal, reject, timer)
    work.then(
      (value) => {
        clearTimeout(timer)
        stopListening?.()
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        stopListening?.()
        reject(error)
      },
    )
  })
}

function rejectLate(reject: (error: Error) => void, ms: number): void {
  reject(new Late(`No answer within ${ms} ms.`))
}

function rejectOnAbort(
  signal: AbortSignal,
  reject: (error: Error) => void,
  timer: ReturnType<typeof setTimeout>,
): () => void {
  const abort = () => {
    clearTimeout(timer)
    reject(new Error('The call was aborted.', { cause: signal.reason }))
  }
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}
