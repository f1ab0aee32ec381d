/** The time for a call was over. */
export class Late extends Error {}

/** The result of `work`, unless `ms` milliseconds are over or the signal fires before. One promise and one timer: it is for every call. */
export function inTime<T>(ms: number, signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const timer = setTimeout(() => {
      end()
      reject(new Late(`No answer within ${ms} ms.`))
    }, ms)
    const abort = () => {
      end()
      reject(new Error('The call was aborted.', { cause: signal?.reason }))
    }
    signal?.addEventListener('abort', abort)
    work.then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
