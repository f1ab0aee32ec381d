import type { CheckpointRef, PendingInterrupt, SnapshotTask, StateSnapshot } from '../../agents/agent.ts'
import { type AgentEngine, metadataOf, type ThreadRecord, unanswered } from '../../engine/index.ts'
import { UnavailableError } from '../../storage/errors.ts'

/** The state of a thread without checkpoints. */
export const emptyState = ({ threadId, createdAt }: ThreadRecord): ThreadState => ({
  values: {},
  next: [],
  tasks: [],
  metadata: { thread_id: threadId },
  created_at: new Date(createdAt).toISOString(),
  checkpoint: { thread_id: threadId, checkpoint_id: null, checkpoint_ns: '', checkpoint_map: null },
  parent_checkpoint: null,
})

/** The title that a client set, otherwise the text of the first human message. */
export const shownTitle = ({ metadata, title }: ThreadRecord): string | null =>
  typeof metadata.title === 'string' ? metadata.title : title

/** A thread as the SDK's `Thread`, with its newest state if there is one. */
export const presentThread = (thread: ThreadRecord, state: StateSnapshot | undefined) => ({
  thread_id: thread.threadId,
  created_at: new Date(thread.createdAt).toISOString(),
  updated_at: new Date(thread.updatedAt).toISOString(),
  state_updated_at: new Date(thread.stateUpdatedAt).toISOString(),
  metadata: {
    ...metadataOf(thread),
    ...(thread.title !== null && { title: thread.metadata.title ?? thread.title }),
  },
  status: thread.status,
  values: state?.values ?? null,
  interrupts: presentInterrupts(thread, state),
  config: thread.config ?? {},
  error: thread.error,
})

/**
 * The interrupts of every task of the newest checkpoint, in the format of the reference servers. If the state
 * cannot be read, the last segment of an interrupt's namespace contains the task's id, and an interrupt of
 * the root is keyed by its own id.
 */
function presentInterrupts(thread: ThreadRecord, state: StateSnapshot | undefined) {
  const tasks: readonly Pick<SnapshotTask, 'id' | 'interrupts'>[] =
    state?.tasks ??
    thread.interrupts.map(({ id, value, namespace }) => ({
      id: namespace.at(-1)?.split(':').at(-1) ?? id,
      interrupts: [{ id, value }],
    }))
  const byTask: Record<string, PendingInterrupt[]> = Object.create(null)
  for (const { id, interrupts } of tasks) byTask[id] = [...(byTask[id] ?? []), ...openOf(thread, interrupts)]
  return byTask
}

/** The open interrupts of a task: runs may have answers that are not in the checkpoint yet. */
function openOf(thread: ThreadRecord, interrupts: SnapshotTask['interrupts']): SnapshotTask['interrupts'] {
  if (thread.activeRunId === null || interrupts.length === 0) return interrupts
  const open = new Set(unanswered(thread).map(({ id }) => id))
  return interrupts.filter(({ id }) => open.has(id))
}

/** The newest state without the interrupts for which runs have answers. */
export const withOpenInterrupts = (thread: ThreadRecord, snapshot: StateSnapshot): StateSnapshot => ({
  ...snapshot,
  tasks: snapshot.tasks.map((task) => ({
    ...task,
    interrupts: openOf(thread, task.interrupts),
    state: task.state && withOpenInterrupts(thread, task.state),
  })),
})

/**
 * The newest state of a thread. Undefined before its first checkpoint, and for a state that cannot be read,
 * because a broken thread must not hide itself or others in a list. Throws `UnavailableError`.
 */
export async function newestState(
  { readState }: Pick<AgentEngine, 'readState'>,
  thread: ThreadRecord,
): Promise<StateSnapshot | undefined> {
  try {
    return await readState(thread)
  } catch (error) {
    if (error instanceof UnavailableError) throw error
    return undefined
  }
}

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
