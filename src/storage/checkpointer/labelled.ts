import type { Checkpointer, CheckpointMetadata } from './checkpointer.ts'
import { overlay } from './overlay.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * A view of a saver that adds fields to every checkpoint's metadata, for filtering histories. Precedence:
 * ids, then the agent's metadata, then `more`.
 */
export const labelledCheckpointer = (inner: Checkpointer, ids: Fields, more: Fields = {}): Checkpointer =>
  overlay(inner, (saver) => ({
    put: (config, checkpoint, metadata, newVersions) =>
      saver.put(config, checkpoint, { ...more, ...metadata, ...ids } as CheckpointMetadata, newVersions),
  }))
