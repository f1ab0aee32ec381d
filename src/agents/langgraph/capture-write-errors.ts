import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { throughMembers } from './graph.ts'

/**
 * A view of a run's saver whose writes never fail. The first one that does is told to `onFailure`, which must stop the run;
 * what the run writes after it is dropped. LangGraph leaves the promises of its writes alone until the run is over, and Node
 * ends the process for a rejection that nobody has taken.
 */
export function captureWriteErrors(
  checkpointer: Checkpointer,
  onFailure: (error: unknown) => void,
): Checkpointer {
  let failed = false
  const attempt = async (write: () => Promise<unknown>): Promise<void> => {
    if (failed) return
    try {
      await write()
    } catch (error) {
      if (!failed) onFailure(error)
      failed = true
    }
  }
  const put: Checkpointer['put'] = async (...args) => {
    const [{ configurable }, checkpoint] = args
    await attempt(() => checkpointer.put(...args))
    const { thread_id, checkpoint_ns = '' } = { ...configurable }
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } }
  }
  const putWrites: Checkpointer['putWrites'] = (...args) => attempt(() => checkpointer.putWrites(...args))
  return throughMembers(checkpointer, (key, member) =>
    key === 'put' ? put : key === 'putWrites' ? putWrites : member,
  )
}
