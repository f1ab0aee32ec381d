import type { AgentEvent, CheckpointData } from '../events/index.ts'
import type { PendingInterrupt, StateSnapshot } from './agent.ts'

/** Asks for an answer. The protocol calls the value `payload`; LangGraph's clients read `value`. */
export const inputRequested = (
  namespace: readonly string[],
  { id, value }: PendingInterrupt,
): AgentEvent => ({
  method: 'input.requested',
  namespace,
  data: { interrupt_id: id, payload: value, value },
})

/** The events of a saved state of the root, as in a run: the checkpoint, then its values. */
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
      // Savers store what LangGraph gives them.
      step: metadata.step as number,
      source: metadata.source as CheckpointData['source'],
    },
  },
  { method: 'values', namespace: [], data: values },
]
