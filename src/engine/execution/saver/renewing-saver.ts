import type { Checkpointer } from '../../../storage/checkpointer/checkpointer.ts'
import { overlay, wrapCalls } from '../../../storage/checkpointer/overlay.ts'
import { FencedError } from '../../../storage/errors.ts'

/**
 * A view of an attempt's fenced checkpointer whose writes renew an expired lease, like its events. `renew`
 * throws if another process has taken the lease. A stopped run may have been handed over, so its late writes
 * renew nothing.
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
