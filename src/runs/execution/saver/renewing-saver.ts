import type { Checkpointer } from '../../../storage/checkpointer/checkpointer.ts'
import { overlay, wrapCalls } from '../../../storage/checkpointer/overlay.ts'
import { FencedError } from '../../../storage/errors.ts'

/**
 * A view of an attempt's fenced saver whose writes take an expired lease again, as its events do. `renew` throws where another process
 * has taken it. A run that was stopped may have been handed over, so its late writes take nothing.
 */
export const renewingCheckpointer = (
  inner: Checkpointer,
  renew: () => Promise<void>,
  stopped: AbortSignal,
): Checkpointer =>
  overlay(inner, (saver) =>
    wrapCalls(saver, ['put', 'putWrites'], async (write) => {
      try {
        return await write()
      } catch (error) {
        if (stopped.aborted || !(error instanceof FencedError)) throw error
        await renew()
        return write()
      }
    }),
  )
