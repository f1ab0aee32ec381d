import type { Agent, StateAddress, StateSnapshot } from '../../agents/agent.ts'
import type { OpenInterrupt, ThreadRecord } from './records.ts'

/** The open interrupts of a state, each with the run that announced it if known. */
export function openInterrupts(
  { tasks }: StateSnapshot,
  known: readonly OpenInterrupt[],
): readonly OpenInterrupt[] {
  return tasks.flatMap(({ interrupts }) =>
    interrupts.map(
      ({ id, value }) => known.find((open) => open.id === id) ?? { id, value, runId: '', namespace: [] },
    ),
  )
}

/** The interrupts that wait for an answer. Waiting runs have the answers to the others. */
export function unanswered({ interrupts, queue }: Pick<ThreadRecord, 'interrupts' | 'queue'>) {
  const answered = new Set(queue.flatMap(({ answers }) => answers))
  return interrupts.filter(({ id }) => !answered.has(id))
}

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
