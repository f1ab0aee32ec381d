import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { overlay } from '../../storage/checkpointer/fenced.ts'
import { withoutErrorWrites } from '../failures.ts'

/** Whether the storage has failed in an attempt. */
export interface StorageHealth {
  failed: boolean
}

/** The methods that read or write. Those of later LangGraph versions are only on some savers. */
const METHODS = ['get', 'getTuple', 'list', 'put', 'putWrites', 'deleteThread', 'getDeltaChannelHistory']

/**
 * A view of an attempt's saver that notes its failures in `health`. An agent may throw them on under another message, so that
 * only this shows that the text of its error may be the storage's.
 */
export function watchedCheckpointer(inner: Checkpointer, health: StorageHealth): Checkpointer {
  const noteFailure = (error: unknown): never => {
    health.failed = true
    throw error
  }
  const watch = (work: () => unknown): unknown => {
    try {
      const result = work()
      return result instanceof Promise
        ? result.catch(noteFailure)
        : isIterable(result)
          ? iterate(result, noteFailure)
          : result
    } catch (error) {
      return noteFailure(error)
    }
  }
  return overlay(inner, (saver) => {
    const members = saver as unknown as Readonly<Record<string, unknown>>
    const watched: Record<string, unknown> = {}
    for (const name of METHODS) {
      const method = members[name]
      if (typeof method !== 'function') continue
      watched[name] = (...args: unknown[]) => watch(() => method.apply(saver, args))
    }
    watched.putWrites = (...[config, writes, taskId]: Parameters<Checkpointer['putWrites']>) =>
      watch(() => saver.putWrites(config, health.failed ? withoutErrorWrites(writes) : writes, taskId))
    return watched as Partial<Checkpointer>
  })
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

async function* iterate(source: AsyncIterable<unknown>, noteFailure: (error: unknown) => never) {
  try {
    yield* source
  } catch (error) {
    noteFailure(error)
  }
}
