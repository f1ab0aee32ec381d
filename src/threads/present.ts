import type { CheckpointRef, PendingInterrupt, StateSnapshot } from '../agents/agent.ts'
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
    checkpoint: checkpoint && presentTaskCheckpoint(checkpoint),
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

/** Where the subgraph of a task keeps its state. While it is paused it has no checkpoint id, so that it means the newest one. */
const presentTaskCheckpoint = (ref: CheckpointRef) =>
  ref.checkpointId === ''
    ? { thread_id: ref.threadId, checkpoint_ns: ref.checkpointNs }
    : presentCheckpoint(ref)

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

/** A thread as the SDK's `Thread`, with its newest state if there is one. */
export const presentThread = (thread: ThreadRecord, state: StateSnapshot | undefined) => ({
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
  values: state?.values ?? null,
  interrupts: presentInterrupts(thread, state),
  config: {},
  error: thread.error,
})

type InterruptsByTask = Record<string, readonly PendingInterrupt[]>

/** The interrupts of every task of the newest checkpoint, as the reference servers give them. */
function presentInterrupts(thread: ThreadRecord, state: StateSnapshot | undefined): InterruptsByTask {
  if (!state) return interruptsOfRecord(thread)
  // A run in progress may have answers that its checkpoint does not show yet.
  const isOpen = (id: string) =>
    thread.activeRunId === null || thread.interrupts.some((interrupt) => interrupt.id === id)
  const byTask: InterruptsByTask = Object.create(null)
  for (const { id, interrupts } of state.tasks) byTask[id] = interrupts.filter((one) => isOpen(one.id))
  return byTask
}

/**
 * The interrupts where no state can be read. They are grouped by the last segment of their namespace, which has the task's id.
 * Those of the root are keyed by their own id.
 */
function interruptsOfRecord({ interrupts }: ThreadRecord): InterruptsByTask {
  const byTask: Record<string, PendingInterrupt[]> = Object.create(null)
  for (const { id, value, namespace } of interrupts) {
    const task = namespace.at(-1)?.split(':').at(-1) ?? id
    ;(byTask[task] ??= []).push({ id, value })
  }
  return byTask
}
