import type { Checkpointer } from './checkpointer.ts'

/** The id of the newest checkpoint of a namespace, or null before the first. */
export async function newestCheckpointId(
  checkpointer: Checkpointer,
  threadId: string,
  namespace = '',
): Promise<string | null> {
  const configurable = { thread_id: threadId, checkpoint_ns: namespace }
  return (await checkpointer.getTuple({ configurable }))?.checkpoint.id ?? null
}
