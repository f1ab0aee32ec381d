import type { Agent, StateAddress } from '../../agents/agent.ts'
import { type OpenInterrupt, openInterrupts } from './records.ts'

/**
 * The interrupts of a state that have not been resumed. LangGraph lists those of a subgraph until the
 * enclosing task has ended, although the subgraph may have taken their answers and continued. Only the state
 * of the namespace that asked shows this. It does not if the thread's head was restored, because a rollback
 * does not change the state of namespaces.
 */
export async function withoutResumed(
  agent: Agent,
  { threadId, checkpointer, checkpointId }: StateAddress,
  interrupts: readonly OpenInterrupt[],
): Promise<readonly OpenInterrupt[]> {
  const waits = await Promise.all(
    interrupts.map(async ({ id, namespace }) => {
      if (namespace.length === 0 || checkpointId !== undefined) return true
      const state = await agent.getState({ threadId, checkpointer, checkpointNs: namespace.join('|') })
      return !state || openInterrupts(state, []).some((open) => open.id === id)
    }),
  )
  return interrupts.filter((_, i) => waits[i])
}
