import type { AgentEvent } from '../events/index.ts'
import type { PendingInterrupt } from './agent.ts'

/** Asks for an answer. The protocol calls the value `payload`; LangGraph's clients read `value`. */
export const inputRequested = (
  namespace: readonly string[],
  { id, value }: PendingInterrupt,
): AgentEvent => ({
  method: 'input.requested',
  namespace,
  data: { interrupt_id: id, payload: value, value },
})
