import type { AgentTask } from '../agent.ts'
import { type CheckpointChain, createCheckpointChain, load, type Place } from './checkpoints.ts'
import type { EventQueue } from './event-queue.ts'
import { derivedId } from './ids.ts'
import { createInterrupts, type Interrupts } from './interrupts.ts'
import { INPUT, INTERRUPT, JOURNAL, type RunJournal, type SavedInterrupt } from './journal.ts'
import { createNamespaceState, type NamespaceState, NODE } from './namespace-state.ts'
import type { Plan } from './plan.ts'
import { type Attempt, createScope, type Scope } from './scope.ts'
import { publicState } from './state.ts'

/** What an attempt has in hand: the function's own scope, its state and that of its subagents. */
export interface Run {
  /** Of the one task that the function is, seen as a graph. */
  readonly id: string
  readonly attempt: Attempt
  readonly scope: Scope
  readonly root: NamespaceState
  readonly ledgers: readonly NamespaceState[]
  readonly interrupts: Interrupts
  /** See `Plan`. */
  readonly open: readonly SavedInterrupt[]
  /** Whether the record has changed since it was last written. */
  unsaved(): boolean
}

export function createRun(
  task: AgentTask,
  outbox: EventQueue,
  signal: AbortSignal,
  place: Place,
  timeline: CheckpointChain,
  { state, channels, record: resumed, open }: Plan,
  first: RunJournal,
): Run {
  const { seed, answers } = first
  const interrupts = createInterrupts(seed, answers)
  const ledgers: NamespaceState[] = []
  const counts = new Map<string, number>()
  let record = first
  let saved = first

  const root = createNamespaceState({
    namespace: [],
    state,
    timeline,
    outbox,
    delivered: resumed && state,
    details: () => ({ runId: task.runId }),
    channels: () => {
      const { customs } = record
      return () => {
        saved = { ...record, customs }
        return { [INPUT]: channels[INPUT], [JOURNAL]: saved }
      }
    },
    afterCommit: () => keepOpen(timeline, open),
  })

  async function openLedger(namespace: readonly string[]): Promise<NamespaceState> {
    const key = namespace.join('|')
    const known = record.children[key]
    const inner: Place = { ...place, namespace: key }
    const base = known === undefined ? undefined : await load(inner, known)
    const before = base && publicState(base.channels)
    const ledger = createNamespaceState({
      namespace,
      state: before ?? {},
      timeline: createCheckpointChain(inner, base),
      outbox,
      delivered: before,
      details: () => ({ runId: task.runId, parents: { '': timeline.head()!.id } }),
      channels: () => () => ({}),
      afterCommit: async ({ id }) => {
        record = { ...record, children: { ...record.children, [key]: id } }
      },
    })
    ledgers.push(ledger)
    return ledger
  }

  function isNewCustom(scope: string): boolean {
    const count = (counts.get(scope) ?? 0) + 1
    counts.set(scope, count)
    if (count <= (record.customs[scope] ?? 0)) return false
    record = { ...record, customs: { ...record.customs, [scope]: count } }
    return true
  }

  const attempt: Attempt = {
    outbox,
    interrupts,
    seed,
    signal,
    running: new Set(),
    started: new Set(),
    openLedger,
    isNewCustom,
  }
  return {
    id: derivedId(seed, NODE),
    attempt,
    scope: createScope(attempt, root, { path: '' }),
    root,
    ledgers,
    interrupts,
    open,
    unsaved: () => record.customs !== saved.customs || record.children !== saved.children,
  }
}

/** Writes questions beside the newest checkpoint. */
export async function keepOpen(
  timeline: CheckpointChain,
  questions: readonly SavedInterrupt[],
): Promise<void> {
  for (const question of questions) await timeline.putWrites(question.id, [[INTERRUPT, question]])
}
