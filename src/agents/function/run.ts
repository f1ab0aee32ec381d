import type { AgentTask } from '../agent.ts'
import { derivedId } from './ids.ts'
import { createInterrupts, type Interrupts } from './interrupts.ts'
import { createLedger, type Ledger, NODE } from './ledger.ts'
import type { Outbox } from './outbox.ts'
import type { Plan } from './plan.ts'
import { INPUT, INTERRUPT, type OpenInterrupt, RECORD, type RunRecord } from './record.ts'
import { type Attempt, createScope, type Scope } from './scope.ts'
import { publicState } from './state.ts'
import { createTimeline, load, type Place, type Timeline } from './timeline.ts'

/** What an attempt has in hand: the function's own scope, its state and that of its subagents. */
export interface Run {
  /** Of the one task that the function is, seen as a graph. */
  readonly id: string
  readonly attempt: Attempt
  readonly scope: Scope
  readonly root: Ledger
  readonly ledgers: readonly Ledger[]
  readonly interrupts: Interrupts
  /** See `Plan`. */
  readonly open: readonly OpenInterrupt[]
  /** Whether the record has changed since it was last written. */
  unsaved(): boolean
}

export function createRun(
  task: AgentTask,
  outbox: Outbox,
  signal: AbortSignal,
  place: Place,
  timeline: Timeline,
  { state, channels, record: resumed, open }: Plan,
  first: RunRecord,
): Run {
  const { seed, answers } = first
  const interrupts = createInterrupts(seed, answers)
  const ledgers: Ledger[] = []
  const counts = new Map<string, number>()
  let record = first
  let saved = first

  const root = createLedger({
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
        return { [INPUT]: channels[INPUT], [RECORD]: saved }
      }
    },
    afterCommit: () => keepOpen(timeline, open),
  })

  async function openLedger(namespace: readonly string[]): Promise<Ledger> {
    const key = namespace.join('|')
    const known = record.children[key]
    const inner: Place = { ...place, namespace: key }
    const base = known === undefined ? undefined : await load(inner, known)
    const before = base && publicState(base.channels)
    const ledger = createLedger({
      namespace,
      state: before ?? {},
      timeline: createTimeline(inner, base),
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
export async function keepOpen(timeline: Timeline, questions: readonly OpenInterrupt[]): Promise<void> {
  for (const question of questions) await timeline.putWrites(question.id, [[INTERRUPT, question]])
}
