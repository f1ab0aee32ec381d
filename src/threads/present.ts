import type { CheckpointRef, StateSnapshot } from '../agents/agent.ts'
import type { ThreadRecord } from '../runs/index.ts'

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
  readonly checkpoint_id: string | null
  readonly checkpoint_ns: string
  readonly checkpoint_map: Readonly<Record<string, string>> | null
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

const presentCheckpoint = (ref: CheckpointRef): CheckpointWire => ({
  thread_id: ref.threadId,
  checkpoint_id: ref.checkpointId,
  checkpoint_ns: ref.checkpointNs,
  checkpoint_map: ref.checkpointMap,
})

/** The state of a thread that has no checkpoint yet. */
export const emptyState = ({ threadId, createdAt }: ThreadRecord): ThreadState => ({
  values: {},
  next: [],
  tasks: [],
  metadata: { thread_id: threadId },
  created_at: new Date(createdAt).toISOString(),
  checkpoint: { thread_id: threadId, checkpoint_id: null, checkpoint_ns: '', checkpoint_map: null },
  parent_checkpoint: null,
})

/** A thread as the SDK's `Thread`. */
export const presentThread = (thread: ThreadRecord) => ({
  thread_id: thread.threadId,
  created_at: new Date(thread.createdAt).toISOString(),
  updated_at: new Date(thread.updatedAt).toISOString(),
  state_updated_at: new Date(thread.updatedAt).toISOString(),
  metadata: {
    ...thread.metadata,
    ...(thread.assistantId !== null && { assistant_id: thread.assistantId, graph_id: thread.assistantId }),
    ...(thread.title !== null && { title: thread.metadata.title ?? thread.title }),
  },
  status: thread.status,
  values: null,
  interrupts: presentInterrupts(thread),
  config: {},
  error: thread.error,
})

/**
 * Groups interrupts by the task that raised them, the last segment of the namespace. Those of the root are keyed by their own
 * id.
 */
function presentInterrupts({ interrupts }: ThreadRecord): Record<string, { id: string; value: unknown }[]> {
  const byTask: Record<string, { id: string; value: unknown }[]> = Object.create(null)
  for (const { id, value, namespace } of interrupts) {
    const task = namespace.at(-1)?.split(':').at(-1) ?? id
    ;(byTask[task] ??= []).push({ id, value })
  }
  return byTask
}
