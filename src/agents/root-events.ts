import type { AgentEvent, CheckpointData } from '../messages/thread-events/index.ts'
import type { PendingInterrupt, StateSnapshot } from './agent.ts'

/** Requests an answer. The protocol names the value `payload`; LangGraph's clients read `value`. */
export const inputRequested = (
  namespace: readonly string[],
  { id, value }: PendingInterrupt,
): AgentEvent => ({
  method: 'input.requested',
  namespace,
  data: { interrupt_id: id, payload: value, value },
})

/** The events of a saved root state, like in a run: the checkpoint, then its values. */
export const stateEvents = ({
  checkpoint,
  parentCheckpoint,
  metadata,
  values,
}: StateSnapshot): readonly AgentEvent<'checkpoints' | 'values'>[] => [
  {
    method: 'checkpoints',
    namespace: [],
    data: {
      id: checkpoint.checkpointId,
      ...(parentCheckpoint && { parent_id: parentCheckpoint.checkpointId }),
      // Checkpointers store what LangGraph passes to them.
      step: metadata.step as number,
      source: metadata.source as CheckpointData['source'],
    },
  },
  { method: 'values', namespace: [], data: values },
]
