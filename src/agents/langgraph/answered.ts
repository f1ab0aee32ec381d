import type { Checkpointer, CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { StateSnapshot } from '../agent.ts'

type PendingWrites = NonNullable<CheckpointTuple['pendingWrites']>

/** What a task leaves behind while it waits for an answer, and when it gets one. */
const ASKING = new Set(['__interrupt__', '__resume__', '__scheduled__'])

/** Tasks that went on after they had asked: they have written or failed. Their interrupts stay in the checkpoint for ever. */
export const answeredTasks = (pendingWrites: PendingWrites): ReadonlySet<string> =>
  new Set(pendingWrites.filter(([, channel]) => !ASKING.has(channel)).map(([taskId]) => taskId))

/** The snapshot with those interrupts only that still wait, when several asked and some were answered. */
export async function withoutAnswered(
  snapshot: StateSnapshot,
  checkpointer: Checkpointer,
): Promise<StateSnapshot> {
  if (!snapshot.tasks.some((task) => task.interrupts.length > 0)) return snapshot
  const { threadId, checkpointId, checkpointNs } = snapshot.checkpoint
  const tuple = await checkpointer.getTuple({
    configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
  })
  const answered = answeredTasks(tuple?.pendingWrites ?? [])
  const tasks = snapshot.tasks.map(async (task) => ({
    ...task,
    interrupts: answered.has(task.id) ? [] : task.interrupts,
    state: task.state && (await withoutAnswered(task.state, checkpointer)),
  }))
  return { ...snapshot, tasks: await Promise.all(tasks) }
}
