import type { StateSnapshot } from '../agents/agent.ts'
import type { OpenInterrupt } from './records/records.ts'

/** What a state asks its user, keeping account of who announced it. */
export function openInterrupts(
  snapshot: StateSnapshot,
  known: readonly OpenInterrupt[],
): readonly OpenInterrupt[] {
  return snapshot.tasks.flatMap(({ interrupts }) =>
    interrupts.map(
      ({ id, value }) => known.find((open) => open.id === id) ?? { id, value, runId: '', namespace: [] },
    ),
  )
}
