import type { StateSnapshot } from '../../agents/agent.ts'
import type { RunContext } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { type OpenInterrupt, openInterrupts, type ThreadRecord, unanswered } from '../records/records.ts'
import { readState } from './state.ts'

/**
 * The questions of a thread that can be answered. The record names them, but after a new release, the node
 * that asked may not exist any more, so the agent's state decides. A run that is active or waits will change
 * the state: until it ends, the record is all that is known. `known` is the newest state, if the caller has
 * just read it.
 */
export async function openQuestions(
  context: RunContext,
  thread: ThreadRecord,
  known?: StateSnapshot,
): Promise<readonly OpenInterrupt[]> {
  const announced = unanswered(thread)
  if (announced.length === 0 || thread.activeRunId !== null || thread.queue.length > 0) return announced
  const state = known ?? (await saverInTime(context, readState(context, thread)))
  // An agent of your own may keep no state.
  if (!state) return announced
  const asked = new Set(openInterrupts(state, []).map(({ id }) => id))
  // After a rolled-back answer, the state has what its task had written, and the task waits all the same.
  return asked.size === 0 && state.tasks.length > 0 ? announced : announced.filter(({ id }) => asked.has(id))
}

/**
 * The open questions that a new input meets. After a failed run there are none, because the sender may not
 * expect that a question is still open.
 */
export const questionsBeforeInput = async (
  context: RunContext,
  thread: ThreadRecord,
): Promise<readonly OpenInterrupt[]> => (thread.error === null ? openQuestions(context, thread) : [])
