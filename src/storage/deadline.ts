/** A call has timed out. */
export class Late extends Error {}

/** The signal of a call fired. */
class Aborted extends Error {}

/**
 * The result of `work`, unless `ms` milliseconds pass or the signal aborts first. It is small, because every
 * call runs it.
 */
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
    reject(new Aborted('The call was aborted.', { cause: signal.reason }))
  }
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}

export type Deadline = ReturnType<typeof createDeadline>

/** A time limit for several steps of one call. */
export function createDeadline(ms: number, signal?: AbortSignal | undefined) {
  const end = performance.now() + ms
  let isOver = false
  return {
    /** The result of one step, unless the time is up or the signal fires first. */
    async race<T>(step: Promise<T>): Promise<T> {
      try {
        return await inTime(end - performance.now(), signal, step)
      } catch (error) {
        isOver ||= error instanceof Late || error instanceof Aborted
        throw error
      }
    },
    /** Whether a step was abandoned. */
    get isOver(): boolean {
      return isOver
    },
  }
}
