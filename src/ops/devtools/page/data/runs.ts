import type { Answers, CheckpointRow, Fork, NewRun, StartedRun, ThreadRow } from '../../wire.ts'
import { ApiError, ask, threadPath } from './api.ts'
import { breakpointsOf } from './local-settings.ts'

/** The thread of a run, and the agent whose breakpoints it has. */
type RunTarget = Pick<ThreadRow, 'thread_id' | 'assistant_id'>

export const startRun = (target: RunTarget, run: NewRun) => post(target, 'runs', run)
export const answer = (target: RunTarget, answers: Answers['answers']) => post(target, 'answers', { answers })
/** Starts a run from a checkpoint. */
export const fork = (target: RunTarget, from: Fork) => post(target, 'forks', from)

const post = ({ thread_id, assistant_id }: RunTarget, action: string, body: NewRun | Answers | Fork) =>
  ask<StartedRun>(`${threadPath(thread_id)}/${action}`, { ...body, ...breakpointsOf(assistant_id) })

/** Runs a step of the agent again, and all that follows it. */
export async function runAgain(target: RunTarget, step: string): Promise<void> {
  const path = `${threadPath(target.thread_id)}/checkpoints?limit=200`
  const checkpoint = await firstCheckpointOf(step, (before) =>
    ask<readonly CheckpointRow[]>(
      before === undefined ? path : `${path}&before=${encodeURIComponent(before)}`,
    ),
  )
  if (!checkpoint) throw new ApiError(404, 'The thread no longer has the checkpoint before this step.')
  await fork(target, { checkpoint_id: checkpoint.checkpoint_id, input: null })
}

/** Reads the checkpoints before the given one, newest first. */
type ReadCheckpoints = (before: string | undefined) => Promise<readonly CheckpointRow[]>

/** The checkpoint at which a task began. A function has several with the same task. */
export async function firstCheckpointOf(
  task: string,
  read: ReadCheckpoints,
): Promise<CheckpointRow | undefined> {
  let found: CheckpointRow | undefined
  for (let before: string | undefined; ; ) {
    const rows = await read(before)
    for (const row of rows) {
      const isOwn = row.tasks.some(({ task_id }) => task_id === task)
      if (found && !isOwn) return found
      if (isOwn) found = row
    }
    if (rows.length === 0) return found
    before = rows.at(-1)!.checkpoint_id
  }
}
