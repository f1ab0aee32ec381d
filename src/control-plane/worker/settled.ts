import { reportError } from '../../http/index.ts'
import { pause } from '../../time.ts'
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
  const ended = new AbortController()
  const result = work.finally(() => ended.abort())
  await pause(Number.POSITIVE_INFINITY, signal, ended.signal)
  await pause(times.graceMs, ended.signal)
  if (ended.signal.aborted) return result
  result.then(late).catch((error: unknown) => reportError(error, onError))
  throw signal.reason
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
