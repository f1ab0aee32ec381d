import { reportError } from '../../http/index.ts'
import { DeployError } from '../deployers/errors.ts'
import type { WorkerContext } from './context.ts'

/**
 * The result of what a deployer was told to do. One that does not stop when it is told is not waited for long: what it comes to later is given
 * to `late`.
 */
export async function settled<T>(
  { times, onError }: Pick<WorkerContext, 'times' | 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
  late: (result: T) => Promise<void> = async () => {},
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLate = false
  let wait = () => {}
  const over = new Promise<never>((_, reject) => {
    wait = () => {
      timer = setTimeout(() => {
        isLate = true
        reject(signal.reason)
        work.then(late).catch((error: unknown) => reportError(error, onError))
      }, times.graceMs)
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
  over.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    signal.removeEventListener('abort', wait)
    if (!isLate) clearTimeout(timer)
  }
}

/**
 * What a deployer throws, as a `DeployError` whose message clients may read: its own, else an id by which `onError` tells more. Errors of the
 * store have other types, and decide nothing about a revision.
 */
export async function readable<T>(
  { onError }: Pick<WorkerContext, 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    // What it throws once it was told to stop is only how it stopped.
    if (signal.aborted || error instanceof DeployError) throw error
    throw new DeployError(`The deployer failed (error id ${reportError(error, onError)}).`, { cause: error })
  }
}
