import type { Agent } from '../../agents/agent.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { DATABASE } from '../../storage/checkpointer/fenced.ts'
import { newestCheckpointId } from '../../storage/checkpointer/newest-checkpoint.ts'
import type { Store } from '../../storage/store/store.ts'
import { saverInTime } from '../deadlines.ts'
import { RunError } from '../errors.ts'

/** Where the agents of a server store their state. */
export interface Savers {
  readonly agents: ReadonlyMap<string, Agent>
  readonly checkpointer: Checkpointer
}

export const saversOf = ({ agents, checkpointer }: Savers): readonly Checkpointer[] => [
  ...new Set([checkpointer, ...[...agents.values()].map((agent) => agent.checkpointer ?? checkpointer)]),
]

/**
 * Whether an owner may not create this thread, because it has a state without a record of its owner. Without
 * authentication everything belongs to one owner.
 */
export async function isOrphaned(
  context: Savers & { readonly retryForMs: number },
  { threadId, owner }: { readonly threadId: string; readonly owner: string | null },
): Promise<boolean> {
  if (owner === null) return false
  const newest = saversOf(context).map((saver) => newestCheckpointId(saver, threadId))
  return (await saverInTime(context, Promise.all(newest))).some((id) => id !== null)
}

export const orphanedThread = (threadId: string): RunError =>
  new RunError(
    'no_such_thread',
    `Thread ${JSON.stringify(threadId)} has a state, but this server does not know its owner. Use another thread id.`,
  )

/** Warns about a store that loses the owners of threads while a checkpointer keeps their state. */
export function warnEphemeralStore({ capabilities }: Store, savers: Savers): void {
  if (capabilities.durable || !saversOf(savers).some(isDurable)) return
  console.warn(
    'agentwire: the checkpointer is persistent, but the store is in memory: after a restart, existing threads are not listed, and with `authenticate` nobody can reach them. Set `store` too, such as the one from openStorage().',
  )
}

/**
 * Checkpointers in memory are `memoryCheckpointer`, which is not a class instance, and LangGraph's
 * `MemorySaver` with its field `storage`.
 */
const isDurable = (
  saver: Checkpointer & { readonly [DATABASE]?: { readonly isDurable?: boolean } },
): boolean =>
  DATABASE in saver
    ? saver[DATABASE]?.isDurable !== false
    : Object.getPrototypeOf(saver) !== Object.prototype && !('storage' in saver)
