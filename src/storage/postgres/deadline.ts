/** The time that one call may take. */
export interface Deadline {
  /** The result of `work`, unless the time is over or the signal fires before. */
  race<T>(work: Promise<T>): Promise<T>
  readonly isOver: boolean
  end(): void
}

export function createDeadline(ms: number, signal?: AbortSignal | undefined): Deadline {
  let fail: (error: Error) => void = () => {}
  let isOver = false
  const over = new Promise<never>((_, reject) => {
    fail = (error) => {
      isOver = true
      reject(error)
    }
  })
  // It counts only where it is raced.
  over.catch(() => {})
  const timer = setTimeout(() => fail(new Error(`No answer within ${ms} ms.`)), ms)
  const abort = () => fail(new Error('The call was aborted.', { cause: signal?.reason }))
  signal?.addEventListener('abort', abort)
  return {
    race: (work) => Promise.race([work, over]),
    get isOver() {
      return isOver
    },
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}
