import type { AgentEvent, CheckpointData } from '../events/index.ts'
import type { StateSnapshot } from './agent.ts'

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
