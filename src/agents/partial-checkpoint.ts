import type { CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'

/** The key of the metadata of a checkpoint that only adds what a cancelled run had written. */
const CANCELLED = 'agentwire_cancelled'

export const PARTIAL = { [CANCELLED]: true }

/** The checkpoint before one that only adds what a cancelled run wrote: a run without input starts there. */
export function beforePartial(tuple: CheckpointTuple | undefined): string | undefined {
  const { metadata, parentConfig } = tuple ?? {}
  const isPartial = metadata?.source === 'update' && (metadata as Record<string, unknown>)[CANCELLED] === true
  return isPartial ? (parentConfig?.configurable?.checkpoint_id as string | undefined) : undefined
}
