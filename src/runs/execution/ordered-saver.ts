import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { overlay } from '../../storage/checkpointer/fenced.ts'

/**
 * A view of an attempt's saver whose writes wait for `logged`. A process that continues from a checkpoint does not send the
 * events again that led to it, so they must be in the log before it is saved.
 */
export const orderedCheckpointer = (inner: Checkpointer, logged: () => Promise<void>): Checkpointer =>
  overlay(inner, (saver) => ({
    async put(...args) {
      await logged()
      return saver.put(...args)
    },
    async putWrites(...args) {
      await logged()
      await saver.putWrites(...args)
    },
  }))
