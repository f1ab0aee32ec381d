import type { Checkpointer, CheckpointMetadata } from './checkpointer.ts'
import { overlay } from './overlay.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * A view of a saver that adds fields to the metadata of every checkpoint, so that a history can be filtered by them. Of equal
 * names, ids replace what the agent wrote, and the agent's replace `more`.
 */
export const labelledCheckpointer = (inner: Checkpointer, ids: Fields, more: Fields = {}): Checkpointer =>
  overlay(inner, (saver) => ({
    put: (config, checkpoint, metadata, newVersions) =>
      saver.put(config, checkpoint, { ...more, ...metadata, ...ids } as CheckpointMetadata, newVersions),
  }))
