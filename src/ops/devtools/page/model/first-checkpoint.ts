import type { CheckpointRow } from '../../wire.ts'

/** Reads the checkpoints before the given one, newest first. */
export type ReadCheckpoints = (before: string | undefined) => Promise<readonly CheckpointRow[]>

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
