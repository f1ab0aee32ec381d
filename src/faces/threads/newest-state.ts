import type { StateSnapshot } from '../../agents/agent.ts'
import type { AgentEngine, ThreadRecord } from '../../engine/index.ts'
import { UnavailableError } from '../../storage/errors.ts'

/**
 * The newest state of a thread. Undefined before its first checkpoint, and for a state that cannot be read,
 * because a broken thread must not hide itself or others in a list. Throws `UnavailableError`.
 */
export async function newestState(
  { readState }: Pick<AgentEngine, 'readState'>,
  thread: ThreadRecord,
): Promise<StateSnapshot | undefined> {
  try {
    return await readState(thread)
  } catch (error) {
    if (error instanceof UnavailableError) throw error
    return undefined
  }
}
