import type { CheckpointConfig, Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { throughMembers } from './graph.ts'

/**
 * A view of a run's saver for which the run waits a turn longer when it is about to fail: at the error of a task, and at the
 * last steps before `recursionLimit`. LangGraph drops what its stream still holds when it fails, such as the last words of a
 * message and the values of the last step, but first it waits for what is being written.
 */
export function delayFailure(checkpointer: Checkpointer, recursionLimit: number): Checkpointer {
  let steps = 0
  const isLast = ({ configurable }: CheckpointConfig) =>
    !configurable?.checkpoint_ns && ++steps > recursionLimit
  const put: Checkpointer['put'] = async (...args) => {
    const stored = await checkpointer.put(...args)
    if (isLast(args[0])) await turn()
    return stored
  }
  const putWrites: Checkpointer['putWrites'] = async (...args) => {
    await checkpointer.putWrites(...args)
    if (args[1].some(([channel]) => channel === '__error__')) await turn()
  }
  return throughMembers(checkpointer, (key, member) =>
    key === 'put' ? put : key === 'putWrites' ? putWrites : member,
  )
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve))
