import { isUnnamed } from '../../engine/assistants/index.ts'
import type { ServedEngine } from '../../engine/index.ts'

export type Metadata = Readonly<Record<string, unknown>>

/**
 * The keys of a thread's metadata that name its assistant. The SDK sets `graph_id` when it creates a thread.
 */
export const ASSISTANT_KEYS: readonly string[] = ['graph_id', 'assistant_id']

/** The metadata to store with a thread: without assistant ids that do not name an assistant. */
export const threadMetadata = (engine: ServedEngine, metadata: Metadata = {}): Metadata =>
  Object.fromEntries(
    Object.entries(metadata).filter(
      ([key, value]) =>
        !ASSISTANT_KEYS.includes(key) || typeof value !== 'string' || !isUnnamed(engine, value),
    ),
  )
