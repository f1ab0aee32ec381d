import type { Checkpointer } from '../../../storage/checkpointer/checkpointer.ts'
import { overlay, wrapCalls } from '../../../storage/checkpointer/overlay.ts'
import { UnavailableError } from '../../../storage/errors.ts'
import { withoutErrorWrites } from '../../failures.ts'

/** How the storage has failed during an attempt. */
export interface StorageHealth {
  failed: boolean
  /** It could not be reached, and what the agent wrote or wanted to read is missing. */
  unavailable: boolean
}

export function noteFailure(health: StorageHealth, error: unknown): void {
  health.failed = true
  health.unavailable ||= error instanceof UnavailableError
}

/** The methods that read or write. */
const METHODS = ['get', 'getTuple', 'list', 'put', 'deleteThread', 'keepLatest', 'getDeltaChannelHistory']

/**
 * A view of an attempt's checkpointer that records its failures in `health`. An agent may rethrow them with
 * another message, so this is the only sign that the text of its error may come from the storage.
 */
export function watchedCheckpointer(inner: Checkpointer, health: StorageHealth): Checkpointer {
  const rethrow = (error: unknown): never => {
    noteFailure(health, error)
    throw error
  }
  const watch = (work: () => unknown): unknown => {
    try {
      const result = work()
      return result instanceof Promise
        ? result.catch(rethrow)
        : isIterable(result)
          ? iterate(result, rethrow)
          : result
    } catch (error) {
      return rethrow(error)
    }
  }
  return overlay(inner, (saver) => ({
    ...wrapCalls(saver, METHODS, watch),
    putWrites: (config, writes, taskId) =>
      watch(() =>
        saver.putWrites(config, health.failed ? withoutErrorWrites(writes) : writes, taskId),
      ) as Promise<void>,
  }))
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> => Symbol.asyncIterator in Object(value)

async function* iterate(source: AsyncIterable<unknown>, rethrow: (error: unknown) => never) {
  try {
    yield* source
  } catch (error) {
    rethrow(error)
  }
}
