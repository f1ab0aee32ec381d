import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { checkpointerOf, findAgent, type RunContext, readerOf } from '../context.ts'
import { RunError } from '../errors.ts'
import type { ThreadTtl } from '../records/records.ts'
import { saversOf } from '../threads/savers.ts'

/**
 * The checkpointers that may have the state of a thread. For a removed agent it is unknown which one does.
 */
export function saversOfThread(context: RunContext, assistantId: string | null): readonly Checkpointer[] {
  const isKnown = assistantId === null || findAgent(context, assistantId) !== undefined
  return isKnown ? [checkpointerOf(context, readerOf(context, assistantId))] : saversOf(context)
}

/** Throws `not_supported` if one of the checkpointers cannot shorten a thread. */
export function assertKeepLatest(savers: readonly Checkpointer[]): void {
  if (savers.every((saver) => saver.keepLatest)) return
  throw new RunError(
    'not_supported',
    'The checkpointer of this thread cannot keep only the latest state, because it has no `keepLatest` method. Use the strategy "delete", or a checkpointer from agentwire.',
  )
}

/**
 * The same for a time to live. Any agent of the server may be the first to run on a thread without an
 * assistant.
 */
export function assertTtl(
  context: RunContext,
  assistantId: string | null | undefined,
  ttl: ThreadTtl | undefined,
): void {
  if (ttl?.strategy !== 'keep_latest') return
  assertKeepLatest(assistantId == null ? saversOf(context) : saversOfThread(context, assistantId))
}
