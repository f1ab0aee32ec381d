import type { CheckpointRef, StateSnapshot } from './agent.ts'

/** A snapshot as the SDK's `ThreadState`. */
export interface ThreadState {
  readonly values: Readonly<Record<string, unknown>>
  readonly next: readonly string[]
  readonly tasks: readonly unknown[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly created_at: string | null
  readonly checkpoint: CheckpointWire
  readonly parent_checkpoint: CheckpointWire | null
}

interface CheckpointWire {
  readonly thread_id: string
  readonly checkpoint_id?: string | null
  readonly checkpoint_ns: string
  readonly checkpoint_map?: Readonly<Record<string, string>> | null
}

export const presentState = (snapshot: StateSnapshot): ThreadState => ({
  values: snapshot.values,
  next: snapshot.next,
  tasks: snapshot.tasks.map(({ id, name, error, interrupts, path, checkpoint, state, result }) => ({
    id,
    name,
    error,
    interrupts,
    path,
    checkpoint: checkpoint && presentCheckpoint(checkpoint),
    state: state && presentState(state),
    result: result ?? null,
  })),
  metadata: { ...snapshot.metadata, thread_id: snapshot.checkpoint.threadId },
  created_at: snapshot.createdAt,
  checkpoint: presentCheckpoint(snapshot.checkpoint),
  parent_checkpoint: snapshot.parentCheckpoint && presentCheckpoint(snapshot.parentCheckpoint),
})

/** The address of a paused subgraph has no checkpoint id, and refers to its newest checkpoint. */
const presentCheckpoint = (ref: CheckpointRef): CheckpointWire => ({
  thread_id: ref.threadId,
  checkpoint_ns: ref.checkpointNs,
  ...(ref.checkpointId !== '' && { checkpoint_id: ref.checkpointId, checkpoint_map: ref.checkpointMap }),
})
