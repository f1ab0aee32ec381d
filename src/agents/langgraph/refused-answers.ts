import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { overlay } from '../../storage/checkpointer/overlay.ts'
import { ERROR, RESUME, refusal } from './snapshot.ts'

/**
 * A checkpointer to which a node that fails does not write its newest answer: the node may have refused it.
 * The question stays open, and another answer can be given. The engine would give the same one for ever.
 */
export function withoutRefusedAnswers(checkpointer: Checkpointer): Checkpointer {
  return overlay(checkpointer, () => ({
    putWrites(config, writes, taskId) {
      const channels = new Set(writes.map(([channel]) => channel))
      // An error that a handler of the graph takes is not the end of the task.
      if (!channels.has(ERROR) || !channels.has(RESUME) || channels.has(HANDLED))
        return checkpointer.putWrites(config, writes, taskId)
      const kept = writes
        .filter(([channel]) => channel !== RESUME)
        .map(([channel, value]): (typeof writes)[number] => [
          channel,
          channel === ERROR ? refusal(value) : value,
        ])
      return checkpointer.putWrites(config, kept, taskId)
    },
  }))
}

/** The channel that names the node of an error for which the graph has a handler. */
const HANDLED = '__error_source_node__'
