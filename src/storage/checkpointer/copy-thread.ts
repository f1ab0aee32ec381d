import { eventLoopTurns } from '../../core/time.ts'
import type { ChannelVersion, Checkpointer, CheckpointMetadata, CheckpointTuple } from './checkpointer.ts'

export interface ThreadCopy {
  readonly from: string
  readonly to: string
}

/**
 * Copies all checkpoints and writes of a thread to another thread id and keeps the checkpoint ids. Parents
 * come before their children, and only one checkpoint is in memory at a time. Checkpoints that are deleted
 * concurrently are skipped, and no copy names a parent that is missing.
 */
export async function copyCheckpoints(
  source: Checkpointer,
  target: Checkpointer,
  { from, to }: ThreadCopy,
): Promise<void> {
  const turn = eventLoopTurns()
  const places: CheckpointTuple['config'][] = []
  for await (const { config } of source.list({ configurable: { thread_id: from } })) {
    places.push(config)
    await turn()
  }
  const versions = new Map<string, Readonly<Record<string, ChannelVersion>>>()
  for (const place of places.reverse()) {
    await turn()
    const tuple = await source.getTuple(place)
    if (!tuple) continue
    const { checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple
    const namespace = String(place.configurable?.checkpoint_ns ?? '')
    const parentId: unknown = parentConfig?.configurable?.checkpoint_id
    const address = { thread_id: to, checkpoint_ns: namespace }
    // A thread that was shortened names a parent that is not there, on which nothing can be saved.
    const parent = versions.get(JSON.stringify([namespace, parentId]))
    const before = parent ?? {}
    const changed = Object.entries(checkpoint.channel_versions).filter(
      ([channel, version]) => !Object.hasOwn(before, channel) || before[channel] !== version,
    )
    await target.put(
      { configurable: { ...address, ...(parent && { checkpoint_id: parentId }) } },
      checkpoint,
      movedMetadata(metadata, { from, to }),
      Object.fromEntries(changed),
    )
    versions.set(JSON.stringify([namespace, checkpoint.id]), checkpoint.channel_versions)
    const byTask = new Map<string, [string, unknown][]>()
    for (const [taskId, channel, value] of pendingWrites)
      byTask.set(taskId, [...(byTask.get(taskId) ?? []), [channel, value]])
    for (const [taskId, writes] of byTask)
      await target.putWrites({ configurable: { ...address, checkpoint_id: checkpoint.id } }, writes, taskId)
  }
}

/** Runs write their thread id to the metadata of their checkpoints. */
function movedMetadata(metadata: CheckpointTuple['metadata'], { from, to }: ThreadCopy): CheckpointMetadata {
  const known = (metadata ?? {}) as CheckpointMetadata & { readonly thread_id?: unknown }
  return known.thread_id === from ? { ...known, ...{ thread_id: to } } : known
}
